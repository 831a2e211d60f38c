import assert from 'node:assert/strict';
import { Defaulter } from '../../../../machinery/defaulting/defaulter.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import type { FieldError } from '../../../../machinery/meta/status.js';
import { decodeObject } from '../../../../machinery/schema/decode.js';
import { loadCatalog } from '../../../../machinery/types/catalog.js';
import type { VocabularyName } from '../../../../machinery/vocabulary/vocabulary.js';
import { vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { validations } from '../table.js';
import type { KindValidation, Problems } from '../types.js';

type Json = Readonly<Record<string, unknown>>;

/** The members to change in a valid object, by path (`spec.ports.0.name`); undefined takes the member away. */
export type Change = Readonly<Record<string, unknown>>;

/** A change, and the one problem that comes of it. */
export type Case = readonly [change: Change, field: string, message: string];
/** A change, and all that comes of it: field and message in turns. */
export type ManyCase = readonly [change: Change, ...fieldsAndMessages: string[]];

const REASONS: readonly (readonly [prefix: string, reason: FieldError['reason']])[] = [
  ['Required value', 'FieldValueRequired'],
  ['Invalid value', 'FieldValueInvalid'],
  ['Unsupported value', 'FieldValueNotSupported'],
  ['Duplicate value', 'FieldValueDuplicate'],
  ['Forbidden', 'FieldValueForbidden'],
  ['Too long', 'FieldValueTooLong'],
  ['Too many', 'FieldValueTooMany'],
  ['Not found', 'FieldValueNotFound'],
];

function problem(field: string, message: string): FieldError {
  const reason = REASONS.find(([prefix]) => message.startsWith(prefix))?.[1];
  assert.ok(reason, `${message} begins like a problem`);
  return { reason, field, message };
}

/** The object with a change made to it. */
export function changed(object: Json, change: Change): Json {
  const copy = structuredClone(object);
  for (const [path, value] of Object.entries(change)) setAt(copy, path.split('.'), value);
  return copy;
}

function setAt(object: Json, [step = '', ...rest]: readonly string[], value: unknown): void {
  const here = object as Record<string, unknown>;
  if (rest.length > 0) {
    here[step] ??= /^\d+$/.test(rest[0] ?? '') ? [] : {};
    setAt(here[step] as Json, rest, value);
  } else if (value === undefined) {
    Reflect.deleteProperty(here, step);
  } else {
    here[step] = value;
  }
}

/** Where a kind is: its group (as the vocabulary has it), its resource, and the type it is stored as. */
export interface KindPlace {
  readonly group?: string;
  readonly resource: string;
  readonly type: string;
  readonly words?: VocabularyName;
  /** The apiVersion that is spoken; the stored one when absent. */
  readonly asked?: string;
  /** Absent: containers may be privileged. */
  readonly allowPrivileged?: boolean;
}

/** Asks one kind's validation as the server would: of objects that are decoded and have their defaults. */
export class KindUnderTest {
  readonly validation: KindValidation;
  readonly #place: KindPlace;
  readonly #catalog: ReturnType<typeof loadCatalog>;
  readonly #defaulter: Defaulter;

  constructor(place: KindPlace) {
    const words = vocabulary(place.words ?? 'kubernetes');
    this.#place = place;
    this.#catalog = loadCatalog(words);
    this.#defaulter = new Defaulter(words);
    const { types, resources } = this.#catalog;
    const { group = '', resource, type, allowPrivileged = true } = place;
    const hub = resources.find((r) => r.group === group && r.resource === resource && r.type === type);
    assert.ok(hub, `${resource} is stored as ${type}`);
    this.validation = validations({ vocabulary: words, types, allowPrivileged })(hub);
  }

  decoded(object: Json, withDefaults = true): ApiObject {
    const type = this.#catalog.types.of(this.#place.type);
    const { value, unknown } = decodeObject(type, object);
    assert.deepEqual(unknown, [], 'tests spell members right');
    if (withDefaults) this.#defaulter.apply(type, value as ApiObject);
    return value as ApiObject;
  }

  /** Of a kind whose checks are done at once. */
  onCreate(object: Json, withDefaults = true): Problems {
    const problems: Problems = [];
    assert.equal(this.#create(object, withDefaults, problems), undefined, 'it takes more than one turn');
    return problems;
  }

  onUpdate(next: Json, old: Json): Problems {
    const problems: Problems = [];
    assert.equal(this.#update(next, old, problems), undefined, 'it takes more than one turn');
    return problems;
  }

  /** The same of a kind whose checks may take more than one turn. */
  async created(object: Json, withDefaults = true): Promise<Problems> {
    const problems: Problems = [];
    await this.#create(object, withDefaults, problems);
    return problems;
  }

  async updated(next: Json, old: Json): Promise<Problems> {
    const problems: Problems = [];
    await this.#update(next, old, problems);
    return problems;
  }

  #create(object: Json, withDefaults: boolean, problems: Problems): void | Promise<void> {
    const decoded = this.decoded(object, withDefaults);
    this.validation.object?.(decoded, problems, this.#place.asked);
    return this.validation.create?.(decoded, problems, this.#place.asked);
  }

  #update(next: Json, old: Json, problems: Problems): void | Promise<void> {
    const decoded = this.decoded(next);
    this.validation.object?.(decoded, problems, this.#place.asked);
    return this.validation.update?.(decoded, this.decoded(old), problems, this.#place.asked);
  }

  onPart(part: keyof NonNullable<KindValidation['parts']>, next: Json, old: Json): Problems {
    const problems: Problems = [];
    void this.validation.parts?.[part]?.(this.decoded(next), this.decoded(old), problems);
    return problems;
  }

  /** Each case is a test. */
  refuses(valid: Json, cases: readonly (Case | ManyCase)[]): void {
    for (const [change, ...expected] of cases) {
      it(`refuses ${JSON.stringify(change)}`, async () => {
        assert.deepEqual(await this.created(changed(valid, change)), pairs(expected));
      });
    }
  }

  accepts(valid: Json, changes: readonly Change[]): void {
    for (const change of changes) {
      it(`accepts ${JSON.stringify(change)}`, async () =>
        assert.deepEqual(await this.created(changed(valid, change)), []));
    }
  }

  /** An object that is right, with and without its defaults. */
  acceptsManifest(name: string, object: Json): void {
    it(`accepts ${name}`, async () => {
      assert.deepEqual(await this.created(object), []);
      assert.deepEqual(await this.created(object, false), [], 'without defaults');
      assert.deepEqual(await this.updated(object, object), [], 'as an update that changes nothing');
    });
  }

  /** Each case is a test of an update of `old`. */
  refusesUpdates(old: Json, cases: readonly (Case | ManyCase)[]): void {
    for (const [change, ...expected] of cases) {
      it(`refuses the update ${JSON.stringify(change)}`, async () => {
        assert.deepEqual(await this.updated(changed(old, change), old), pairs(expected));
      });
    }
  }

  acceptsUpdates(old: Json, changes: readonly Change[]): void {
    for (const change of changes) {
      it(`accepts the update ${JSON.stringify(change)}`, async () =>
        assert.deepEqual(await this.updated(changed(old, change), old), []));
    }
  }

  /** Each case is a test of a write of a part. */
  refusesPart(part: keyof NonNullable<KindValidation['parts']>, old: Json, cases: readonly (Case | ManyCase)[]): void {
    for (const [change, ...expected] of cases) {
      it(`refuses as ${part} ${JSON.stringify(change)}`, () => {
        assert.deepEqual(this.onPart(part, changed(old, change), old), pairs(expected));
      });
    }
  }
}

function pairs(expected: readonly string[]): readonly FieldError[] {
  const problems: FieldError[] = [];
  for (let i = 0; i + 1 < expected.length; i += 2) problems.push(problem(expected[i] ?? '', expected[i + 1] ?? ''));
  return problems;
}
