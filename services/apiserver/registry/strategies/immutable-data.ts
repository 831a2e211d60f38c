import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { field } from '../../../machinery/meta/status.js';
import type { Strategy } from '../strategy.js';
import type { Problems } from '../validation/types.js';

const MAX_BYTES = 1024 * 1024;

type StringMap = Readonly<Record<string, string>>;

const sealed =
  (...members: readonly string[]) =>
  (next: ApiObject, old: ApiObject, errors: Problems): void => {
    if (old['immutable'] !== true) return;
    if (next['immutable'] !== true)
      errors.push(field.forbidden('immutable', 'field is immutable when `immutable` is set'));
    for (const member of members) {
      if (!isDeepStrictEqual(next[member], old[member])) {
        errors.push(field.forbidden(member, 'field is immutable when `immutable` is set'));
      }
    }
  };

const sizeOf = (map: unknown): number =>
  Object.values((map ?? {}) as StringMap).reduce((sum, value) => sum + value.length, 0);

const atMostOneMiB =
  (...members: readonly string[]) =>
  (object: ApiObject, errors: Problems): void => {
    const size = members.reduce((sum, member) => sum + sizeOf(object[member]), 0);
    // In base64 a value is a third longer than what it stands for; the store's own limit catches the rest.
    if (size > (MAX_BYTES * 4) / 3) errors.push(field.tooLong(members[0] ?? '', MAX_BYTES));
  };

export const configMaps: Partial<Strategy> = {
  validation: { object: atMostOneMiB('data', 'binaryData'), update: sealed('data', 'binaryData') },
};

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
  prepareForCreate: foldStringData,
  prepareForUpdate: foldStringData,
  validation: { object: atMostOneMiB('data'), update: sealed('data') },
};
