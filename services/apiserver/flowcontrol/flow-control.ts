import { randomBytes } from 'node:crypto';
import { readObject } from '../authorization/rbac/rules.js';
import type { CachedObject } from '../cache/cached-object.js';
import type { CacheFollower } from '../cache/follow.js';
import type { FlowControlMetrics, FlowSeries, LevelSeats } from '../metrics/flow-control-metrics.js';
import type { RequestInfo, UserInfo } from '../request/request.js';
import { MANDATORY_FLOW_SCHEMAS, MANDATORY_PRIORITY_LEVELS } from '../registry/validation/flowcontrol/mandatory.js';
import { Classifier } from './classifier.js';
import { CATCH_ALL, levelSpec, schemaSpec } from './parse.js';
import { FairQueues } from './queues/fair-queues.js';
import { flowHash, type FlowHash } from './queues/hand.js';
import { seatsOf } from './shares.js';
import type { LevelSpec, SchemaSpec } from './flow-control-specs.js';

/** A priority level that has seats. It outlives its object for as long as requests wait or run there. */
export class PriorityLevel {
  readonly queues: FairQueues;
  spec: LevelSpec;
  /** Its object is gone: no new request comes here. */
  retired = false;

  constructor(spec: LevelSpec, nowMs: () => number) {
    this.spec = spec;
    this.queues = new FairQueues({ seats: 1, queuing: undefined }, nowMs);
  }
}

/** A flow schema and its priority level. */
export interface FlowSchema {
  readonly spec: SchemaSpec;
  readonly level: PriorityLevel;
  readonly series: FlowSeries;
}

export interface FlowControlOptions {
  /** Seats of the server that are shared out; 0 for no limit. */
  readonly serverSeats: number;
  readonly metrics: FlowControlMetrics;
  readonly nowMs: () => number;
}

/**
 * Which requests belong together, and how many of them may run, in step with the caches. A change is taken up by the
 * next request, or in the next turn of the event loop for the sake of those that wait: many changes at once cost as
 * much as one.
 *
 * Mandatory levels and schemas are in force from the start as the specification has them, whatever is stored.
 */
export class FlowControl {
  readonly #o: FlowControlOptions;
  readonly #seed: FlowHash;
  readonly #stored = { levels: new Map<string, LevelSpec>(), schemas: new Map<string, SchemaSpec>() };
  readonly #levels = new Map<string, PriorityLevel>();
  #classifier = new Classifier<FlowSchema>([]);
  #catchAll: FlowSchema;
  #dirty = false;

  constructor(o: FlowControlOptions) {
    this.#o = o;
    const random = randomBytes(8);
    this.#seed = { high: random.readInt32LE(0), low: random.readInt32LE(4) };
    o.metrics.countSeatsBy(() => this.#seats());
    this.#catchAll = this.#apply();
  }

  /** Keeps levels in step. */
  followLevels(): CacheFollower {
    return this.#follow(this.#stored.levels, levelSpec);
  }

  /** Keeps schemas in step. */
  followSchemas(): CacheFollower {
    return this.#follow(this.#stored.schemas, schemaSpec);
  }

  /** The schema of a request. */
  schemaFor(user: UserInfo, info: RequestInfo): FlowSchema {
    if (this.#dirty) this.#catchAll = this.#apply();
    return this.#classifier.find(user, info) ?? this.#catchAll;
  }

  /** The flow of a request among those of its schema. */
  flowOf({ spec }: FlowSchema, user: UserInfo, info: RequestInfo): FlowHash {
    return flowHash(this.#seed, spec.name, DISTINGUISHERS[spec.distinguisher](user, info));
  }

  /** Called when seats are given back at a level whose object is gone. */
  left(level: PriorityLevel): void {
    if (level.queues.idle) this.#changed();
  }

  #follow<T>(stored: Map<string, T>, parse: (name: string, object: unknown) => T | undefined): CacheFollower {
    const put = (object: CachedObject): void => {
      const spec = parse(object.name, readObject(object));
      if (spec === undefined) stored.delete(object.name);
      else stored.set(object.name, spec);
    };
    return {
      loaded: (objects) => {
        stored.clear();
        for (const object of objects) put(object);
        this.#changed();
      },
      changed: ({ object, deleted }) => {
        if (deleted) stored.delete(object.name);
        else put(object);
        this.#changed();
      },
    };
  }

  #changed(): void {
    if (this.#dirty) return;
    this.#dirty = true;
    setImmediate(() => {
      if (this.#dirty) this.#catchAll = this.#apply();
    });
  }

  /** @returns The schema of requests that match no other. */
  #apply(): FlowSchema {
    this.#dirty = false;
    this.#applyLevels(withMandatory(this.#stored.levels, MANDATORY_LEVELS));
    const schemas: FlowSchema[] = [];
    for (const spec of withMandatory(this.#stored.schemas, MANDATORY_SCHEMAS)) {
      const level = this.#levels.get(spec.level);
      if (level === undefined || level.retired) continue; // it dangles
      schemas.push({ spec, level, series: this.#o.metrics.series(spec.level, spec.name) });
    }
    this.#classifier = new Classifier(schemas);
    const catchAll = schemas.find(({ spec }) => spec.name === CATCH_ALL);
    if (catchAll === undefined) throw new Error('The mandatory flow schema is missing');
    return catchAll;
  }

  #applyLevels(wanted: readonly LevelSpec[]): void {
    const names = new Set(wanted.map(({ name }) => name));
    for (const [name, level] of this.#levels) {
      level.retired = !names.has(name);
      if (level.retired && level.queues.idle) this.#levels.delete(name);
    }
    for (const spec of wanted) {
      const level = this.#levels.get(spec.name);
      if (level === undefined) this.#levels.set(spec.name, new PriorityLevel(spec, this.#o.nowMs));
      else level.spec = spec;
    }
    this.#shareOut();
  }

  #shareOut(): void {
    let allShares = 0;
    for (const { spec } of this.#levels.values()) allShares += spec.shares;
    for (const { spec, queues } of this.#levels.values()) {
      if (spec.exempt) continue;
      queues.configure({ seats: seatsOf(this.#o.serverSeats, spec.shares, allShares), queuing: spec.queuing });
    }
  }

  *#seats(): Generator<LevelSeats> {
    for (const { spec, queues } of this.#levels.values()) {
      if (!spec.exempt) yield { name: spec.name, seats: queues.limits.seats };
    }
  }
}

const DISTINGUISHERS: Readonly<Record<SchemaSpec['distinguisher'], (user: UserInfo, info: RequestInfo) => string>> = {
  none: () => '',
  ByUser: (user) => user.name,
  ByNamespace: (_user, info) => (info.kind === 'resource' ? info.namespace : ''),
};

function parsed<T>(
  specs: ReadonlyMap<string, object>,
  parse: (name: string, object: unknown) => T | undefined,
): readonly T[] {
  return [...specs].flatMap(([name, spec]) => parse(name, { spec }) ?? []);
}
const MANDATORY_LEVELS = parsed(MANDATORY_PRIORITY_LEVELS, levelSpec);
const MANDATORY_SCHEMAS = parsed(MANDATORY_FLOW_SCHEMAS, schemaSpec);

/** The stored levels or schemas, with the mandatory ones as specified: of these only the uid is stored. */
function withMandatory<T extends { readonly name: string; readonly uid: string }>(
  stored: ReadonlyMap<string, T>,
  mandatory: readonly T[],
): readonly T[] {
  const all = new Map(stored);
  for (const spec of mandatory) all.set(spec.name, { ...spec, uid: stored.get(spec.name)?.uid ?? spec.uid });
  return [...all.values()];
}
