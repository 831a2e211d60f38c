import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { eventually } from '../../api/tools/objects.js';
import type { ShownEvent } from '../../api/tools/audit.js';

/** A log of the audit that is read as it grows, each line once. */
export class AuditTail {
  readonly events: ShownEvent[] = [];
  readonly #file: string;
  #offset = 0;

  constructor(file: string) {
    this.#file = file;
  }

  /** Reads on. @returns All events up to now. */
  read(): readonly ShownEvent[] {
    const bytes = Buffer.alloc(Math.max(0, statSync(this.#file).size - this.#offset));
    const fd = openSync(this.#file, 'r');
    readSync(fd, bytes, 0, bytes.length, this.#offset);
    closeSync(fd);
    const end = bytes.lastIndexOf('\n') + 1; // the last line may not be whole yet
    this.#offset += end;
    for (const line of bytes.subarray(0, end).toString().split('\n')) {
      if (line !== '') this.events.push(JSON.parse(line) as ShownEvent);
    }
    return this.events;
  }

  /** Waits for such an event among those that come after the first `since`. */
  async until(holds: (event: ShownEvent) => boolean, since = 0, withinMs = 60_000): Promise<ShownEvent> {
    let seen = since;
    const look = (): ShownEvent | undefined => {
      const found = this.read().slice(seen).find(holds);
      seen = this.events.length;
      return found;
    };
    return eventually(() => Promise.resolve(look()), withinMs);
  }
}

export const isSuccess = ({ responseStatus }: ShownEvent): boolean => Number(responseStatus?.['code']) < 300;

/** Whom the server acted for. */
export const userIn = ({ impersonatedUser, user }: ShownEvent): string =>
  ((impersonatedUser ?? user)['username'] ?? '') as string;

const WRITES: ReadonlySet<string> = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
export const isWrite = ({ verb }: ShownEvent): boolean => WRITES.has(verb);
