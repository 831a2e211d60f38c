/** Something that ends when a signal fires. */
export interface Abortable {
  abort(reason: unknown): void;
}

interface Group {
  readonly members: Set<Abortable>;
  readonly listener: () => void;
}

/** One listener a signal, however many calls wait for it: adding and removing listeners costs more than a set does. */
const groups = new WeakMap<AbortSignal, Group>();

export function joinSignal(signal: AbortSignal, member: Abortable): void {
  let group = groups.get(signal);
  if (group === undefined) {
    const members = new Set<Abortable>();
    const listener = (): void => {
      for (const it of [...members]) it.abort(signal.reason);
    };
    group = { members, listener };
    groups.set(signal, group);
  }
  if (group.members.size === 0) signal.addEventListener('abort', group.listener);
  group.members.add(member);
}

export function leaveSignal(signal: AbortSignal, member: Abortable): void {
  const group = groups.get(signal);
  if (group?.members.delete(member) === true && group.members.size === 0) {
    signal.removeEventListener('abort', group.listener);
  }
}
