import type { ApiObject } from '../../../machinery/meta/object.js';
import type { Asker } from '../../http/turns.js';
import type { ServedResource } from '../resources.js';
import type { VersionConversion } from './version-conversion.js';

/** Two states of an object, before and after a write. */
export interface WriteStates {
  /** undefined on create. */
  readonly live: ApiObject | undefined;
  readonly next: ApiObject;
}

/** Says which states work cannot go on without. */
class Wanted extends Error {
  readonly conversion: VersionConversion;
  readonly key: string;
  readonly states: WriteStates;

  constructor(conversion: VersionConversion, key: string, states: WriteStates) {
    super('The states in another version are not there yet');
    this.conversion = conversion;
    this.key = key;
    this.states = states;
  }
}

/** The states of one write in other versions than its own, as far as they have been asked for. */
export class OtherVersions {
  readonly #known = new Map<string, WriteStates>();

  /**
   * The same states in another version. The one before is the same each time.
   *
   * @throws What `withOtherVersions` understands, where they are not there yet.
   */
  states(conversion: VersionConversion, apiVersion: string, states: WriteStates): WriteStates {
    const key = `${apiVersion}\n${JSON.stringify(states.next)}`;
    const known = this.#known.get(key);
    if (known === undefined) throw new Wanted(conversion, key, states);
    return known;
  }

  /** @throws {StatusError} InternalError @throws `asker.signal.reason` */
  async bring({ conversion, key, states: { live, next } }: Wanted, { signal }: Asker): Promise<void> {
    const [after = next, before] = await conversion.states(live === undefined ? [next] : [next, live], signal);
    this.#known.set(key, { live: before, next: after });
  }
}

/** Versions that the owners of one object can name. */
const MOST_VERSIONS = 200;

/**
 * Does work that may need states in other versions, which another server has to be asked for: it is done from the
 * beginning once more each time they have come, so it must change nothing.
 *
 * @throws {StatusError} InternalError @throws what the work throws
 */
export function withOtherVersions<T>(
  { conversion }: Pick<ServedResource, 'conversion'>,
  asker: Asker,
  work: (others: OtherVersions | undefined) => T | Promise<T>,
): T | Promise<T> {
  return conversion === undefined ? work(undefined) : repeated(asker, work);
}

async function repeated<T>(asker: Asker, work: (others: OtherVersions) => T | Promise<T>): Promise<T> {
  const others = new OtherVersions();
  for (let i = 0; i < MOST_VERSIONS; i++) {
    try {
      return await work(others);
    } catch (err) {
      if (!(err instanceof Wanted)) throw err;
      await others.bring(err, asker);
    }
  }
  throw new Error('The owners of an object name too many versions');
}
