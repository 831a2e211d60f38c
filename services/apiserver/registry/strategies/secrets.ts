import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Strategy } from '../strategy.js';

type StringMap = Readonly<Record<string, string>>;

/** `stringData` is for writing only: what it says ends in `data`. */
function foldStringData(secret: ApiObject): void {
  const written = secret['stringData'] as StringMap | undefined;
  if (written !== undefined) {
    const data = new Map(Object.entries((secret['data'] ?? {}) as StringMap));
    for (const [key, value] of Object.entries(written)) data.set(key, Buffer.from(value).toString('base64'));
    secret['data'] = Object.fromEntries([...data].sort(([a], [b]) => (a < b ? -1 : 1)));
    Reflect.deleteProperty(secret, 'stringData');
  }
  secret['type'] ??= 'Opaque';
}

export const secrets: Partial<Strategy> = {
  immutable: [['type']],
  normalise: foldStringData,
};
