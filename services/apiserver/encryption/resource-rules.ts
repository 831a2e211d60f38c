/** Which resources an entry of a rule names: a group and a resource, `*` for all of them; the core group is ''. */
export interface ResourceEntry {
  readonly group: string;
  readonly resource: string;
}

const NAME = /^(\*|[a-z0-9-]+)(?:\.(.*))?$/;

/**
 * Reads `secrets`, `deployments.apps`, `*.apps`, `*.` (the core group) or `*.*`.
 *
 * @param eventsGroup The group in which events are served beside the core group.
 * @returns A string: why it cannot be used
 */
export function resourceEntry(text: string, eventsGroup: string): ResourceEntry | string {
  if (text !== text.toLowerCase()) return 'has capital letters';
  if (text.includes('/')) return 'is a sub-resource; they are encrypted with their resource';
  const [, resource, group] = NAME.exec(text) ?? [];
  if (resource === undefined) return 'is no resource; write secrets, deployments.apps, *.apps, *. or *.*';
  if (resource === '*' && group === undefined)
    return 'leaves open which group; use *. for the core group or *.* for all';
  if (group === 'extensions') return 'is in the group extensions; use the group that its objects are stored in';
  if (resource === 'events' && group === eventsGroup) return 'is stored in the core group; use events';
  if (group?.includes('*') === true && !(group === '*' && resource === '*')) return 'has a * that stands for a part';
  return { resource, group: group ?? '' };
}

/** Whether everything that `b` names is named by `a`. */
export const covers = (a: ResourceEntry, b: ResourceEntry): boolean =>
  (a.group === '*' || a.group === b.group) && (a.resource === '*' || a.resource === b.resource);
