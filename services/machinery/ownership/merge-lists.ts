type List = readonly unknown[];

/**
 * Lays an applied list over the present one, item by item. The applied items come in their own order; items that were
 * not applied stay where they were between those. Present items that share a name with each other and with an applied
 * one give way to that one.
 *
 * @param config Has no two items of one name.
 */
export function mergeLists(
  live: List,
  config: List,
  idOf: (item: unknown) => unknown,
  merge: (live: unknown, config: unknown) => unknown,
): List {
  const present = new Map<unknown, unknown>();
  for (const item of live) {
    const id = idOf(item);
    present.set(id, present.has(id) ? undefined : item);
  }
  const ids = config.map(idOf);
  const applied = new Set(ids);
  const out: unknown[] = [];
  let next = 0;
  const takeApplied = (): void => {
    const was = present.get(ids[next]);
    out.push(was === undefined ? config[next] : merge(was, config[next]));
    next++;
  };
  const nextShared = (): number => {
    for (let i = next; i < ids.length; i++) if (present.has(ids[i])) return i;
    return -1;
  };
  let shared = nextShared();
  for (const item of live) {
    const id = idOf(item);
    if (!applied.has(id)) {
      out.push(item);
    } else if (shared >= 0 && ids[shared] === id) {
      while (next <= shared) takeApplied();
      shared = nextShared();
    } // else it comes at its place among the applied ones
  }
  while (next < config.length) takeApplied();
  return out;
}
