import type { ApiObject } from '../../../../machinery/meta/object.js';
import { getOwn, setOwn } from '../../../../machinery/meta/own.js';
import type { LimitRangeItem } from '../../../../machinery/types/generated/core.v1.js';
import type { Amounts } from '../../pods/totals.js';
import { containersOf, specOf, type Container, type PlacedContainer } from '../../pods/pod.js';

/** What a range gives to containers that do not say. */
export interface Defaults {
  readonly requests: Amounts;
  readonly limits: Amounts;
}

export function defaultsOf(items: readonly LimitRangeItem[]): Defaults {
  const ofContainers = items.filter(({ type }) => type === 'Container');
  return {
    requests: Object.assign({}, ...ofContainers.map(({ defaultRequest = {} }) => defaultRequest)) as Amounts,
    limits: Object.assign({}, ...ofContainers.map((item) => item.default ?? {})) as Amounts,
  };
}

/** Notes in `annotation` what was given to which container. */
export function giveDefaults(pod: ApiObject, defaults: Defaults, annotation: string): void {
  const all = containersOf(specOf(pod));
  const notes = (['container', 'init container'] as const).flatMap((kind) =>
    all.filter((placed) => placed.kind === kind).flatMap((placed) => give(placed, defaults)),
  );
  if (notes.length === 0) return;
  const annotations = (pod.metadata.annotations ??= {});
  setOwn(annotations, annotation, `LimitRanger plugin set: ${notes.join('; ')}`);
}

/** @returns Notes such as `cpu, memory request for container c` */
function give({ container, kind }: PlacedContainer, defaults: Defaults): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const added = fill(container, list, defaults[list]);
    const what = list === 'requests' ? 'request' : 'limit';
    return added.length === 0 ? [] : [`${added.join(', ')} ${what} for ${kind} ${container.name ?? ''}`];
  });
}

function fill(container: Container, list: 'requests' | 'limits', amounts: Amounts): string[] {
  const given = container.resources?.[list] ?? {};
  const missing = Object.keys(amounts).filter((resource) => getOwn(given, resource) === undefined);
  if (missing.length === 0) return missing;
  const full = { ...given };
  for (const resource of missing) setOwn(full, resource, getOwn(amounts, resource));
  (container.resources ??= {})[list] = full;
  return missing.sort();
}
