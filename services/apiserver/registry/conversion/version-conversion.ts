import { unlessAborted } from '../../../client/deadline/deadline.js';
import { encodeObject } from '../../../machinery/codec/encode.js';
import { inParallel } from '../../../machinery/loop/in-parallel.js';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { StatusError } from '../../../machinery/meta/status.js';
import type { Work } from '../../../machinery/work/work.js';
import { CachedObject, type ObjectLayout } from '../../cache/cached-object.js';
import { GenerationBudget, Generations } from '../../cache/generations.js';
import { turns } from '../../http/turns.js';
import { batches } from './batches.js';
import { shownKind, stateConvertible, storedConvertible, type ObjectConverter } from './converter.js';

/** Questions under way at once for one request. */
const AT_ONCE = 4;
/** An object without its bytes. */
const OBJECT_BYTES = 300;

/** Of what is kept of all kinds that are converted: 16 MB are 16,000 objects of 1 KB. Those not asked for in two minutes go. */
const CONVERTED = new GenerationBudget({ maxBytes: 16 << 20, turnMs: 60_000 });

export interface VersionConversionOptions {
  readonly kind: string;
  /** Of the version that is converted to. */
  readonly apiVersion: string;
  /** Of objects in that version. */
  readonly layout: ObjectLayout;
  /** Brings a converted object into the version's shape: what it knows, with its defaults. */
  readonly decode: (object: ApiObject) => ApiObject;
  readonly converter: ObjectConverter;
  /** @default that of the process */
  readonly budget?: GenerationBudget;
}

/**
 * Brings objects of one kind into one of its versions. What was converted is kept for a while beside the object that it
 * was made of, and who asks for what is being converted waits for that.
 */
export class VersionConversion {
  readonly #o: VersionConversionOptions;
  readonly #kept: Generations<CachedObject, CachedObject>;
  /** Questions that will bring these objects. */
  readonly #underWay = new Map<CachedObject, Promise<Converted>>();

  constructor(o: VersionConversionOptions) {
    this.#o = o;
    this.#kept = new Generations((object) => object.bytes.length + OBJECT_BYTES, o.budget ?? CONVERTED);
  }

  /**
   * An object in this version.
   *
   * @throws {StatusError} InternalError when it cannot be converted @throws `signal.reason`
   */
  async object(object: CachedObject, signal: AbortSignal): Promise<CachedObject> {
    const [converted = object] = await this.objects([object], signal);
    return converted;
  }

  /** Whether an object is in this version, or its state in this version is at hand. */
  has(object: CachedObject): boolean {
    return this.#found(object) !== undefined;
  }

  /** The same of many: all of them, or none. Those that are in this version are given back as they are. */
  async objects(objects: readonly CachedObject[], signal: AbortSignal): Promise<readonly CachedObject[]> {
    const converted = new Map<CachedObject, CachedObject>();
    const missing = new Set<CachedObject>();
    for (const object of objects) {
      const found = this.#found(object);
      if (found === undefined) missing.add(object);
      else converted.set(object, found);
    }
    if (missing.size > 0) await this.#bring([...missing], converted, signal);
    return objects.map((object) => converted.get(object) ?? object);
  }

  async #bring(
    missing: readonly CachedObject[],
    converted: Map<CachedObject, CachedObject>,
    signal: AbortSignal,
  ): Promise<void> {
    const shared = new Set(missing.flatMap((object) => this.#underWay.get(object) ?? []));
    const fresh = missing.filter((object) => !this.#underWay.has(object));
    const taken = [...shared].map(async (question) => {
      // What others could not have is asked for once more: it may be another object's fault.
      const answer = await unlessAborted(question, signal).catch(() => signal.throwIfAborted());
      for (const [object, made] of answer ?? []) converted.set(object, made);
    });
    await Promise.all([this.#askAll(fresh, converted, signal), ...taken]);
    const left = missing.filter((object) => !converted.has(object));
    await this.#askAll(left, converted, signal);
  }

  async #askAll(
    objects: readonly CachedObject[],
    converted: Map<CachedObject, CachedObject>,
    signal: AbortSignal,
  ): Promise<void> {
    await inParallel(batches(objects), AT_ONCE, async (batch) => {
      signal.throwIfAborted();
      for (const [object, made] of await unlessAborted(this.#ask(batch), signal)) converted.set(object, made);
    });
  }

  /** A state that is not stored, in this version. @throws {StatusError} InternalError @throws `signal.reason` */
  async state(state: ApiObject, signal: AbortSignal): Promise<ApiObject> {
    if (state.apiVersion === this.#o.apiVersion) return state;
    const [converted = state] = await this.states([state], signal);
    return converted;
  }

  /** A few of them, none of which is in this version: in one question. */
  async states(states: readonly ApiObject[], signal: AbortSignal): Promise<readonly ApiObject[]> {
    const asked = this.#o.converter.convert(states.map(stateConvertible), this.#o.apiVersion);
    const answers = await unlessAborted(asked, signal);
    return answers.map((answer, i) => this.#decoded(answer, states[i] ?? answer, i));
  }

  #found(object: CachedObject): CachedObject | undefined {
    return object.layout.apiVersion === this.#o.apiVersion ? object : this.#kept.get(object);
  }

  async #ask(batch: readonly CachedObject[]): Promise<Converted> {
    const answer = this.#converted(batch);
    for (const object of batch) this.#underWay.set(object, answer);
    try {
      return await answer;
    } finally {
      for (const object of batch) if (this.#underWay.get(object) === answer) this.#underWay.delete(object);
    }
  }

  async #converted(batch: readonly CachedObject[]): Promise<Converted> {
    const { converter, apiVersion, kind } = this.#o;
    const sent = batch.map((object) => storedConvertible(object, object.layout.apiVersion ?? '', kind));
    return turns.through(this.#taking(batch, await converter.convert(sent, apiVersion)));
  }

  *#taking(batch: readonly CachedObject[], answers: readonly ApiObject[]): Work<Converted> {
    const { kind, layout } = this.#o;
    const converted = new Map<CachedObject, CachedObject>();
    for (const [i, object] of batch.entries()) {
      const answer = answers[i];
      if (answer === undefined) throw new Error('A converter has given too little back');
      const state = this.#decoded(answer, { apiVersion: object.layout.apiVersion ?? '', kind }, i);
      const { key, namespace, name, revision } = object;
      const made = CachedObject.fromStored(key, namespace, name, revision, encodeObject(state), layout);
      this.#kept.set(object, made);
      converted.set(object, made);
      yield;
    }
    return converted;
  }

  /** @throws {StatusError} InternalError */
  #decoded(object: ApiObject, from: { readonly apiVersion: string; readonly kind: string }, i: number): ApiObject {
    try {
      return this.#o.decode(object);
    } catch (err) {
      const why = err instanceof Error ? err.message : '';
      const message = `conversion webhook for ${shownKind(from)} returned invalid converted object at index ${i}: ${why}`;
      throw new StatusError('InternalError', message, { cause: err });
    }
  }
}

type Converted = ReadonlyMap<CachedObject, CachedObject>;
