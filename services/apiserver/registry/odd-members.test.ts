import { encodeObject } from '../../machinery/codec/encode.js';
import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import { hasWireForm } from '../../machinery/codec/protobuf/wire-form.js';
import type { ApiObject, JsonObject } from '../../machinery/meta/object.js';
import { StatusError } from '../../machinery/meta/status.js';
import { Ownership } from '../../machinery/ownership/ownership.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import type { Work } from '../../machinery/work/work.js';
import { ODD_VALUES, placesOf, withValueAt, type Place } from '../../machinery/types/testing/places.js';
import type { UserInfo } from '../request/request.js';
import { columnsOf } from '../table/columns.js';
import { FieldOwnership } from './field-ownership.js';
import { prepareForCreate, prepareForUpdate, stateSent, validateForCreate, validateForUpdate } from './prepare.js';
import type { ServedResource } from './resources.js';
import { servedAs, words } from './testing/served.js';

const catalog = loadCatalog(words);
const ownership = new FieldOwnership(new Ownership(words));
const BY = { name: 'test', subresource: '' };
const USER: UserInfo = { name: 'test', uid: '', groups: [], extra: {} };

/** A refusal is an answer; anything else that is thrown would be the server's own fault. */
function attempt<T>(step: () => T): T | undefined {
  try {
    return step();
  } catch (err) {
    if (err instanceof StatusError && err.code < 500) return undefined;
    throw err;
  }
}

/**
 * What becomes of a body on its way into the store and out of it. Steps that follow a refusal are tried all the same.
 *
 * @param known Bodies of this kind as decoded: most odd values mean nothing, and are the same as others.
 */
function goThrough(served: ServedResource, body: unknown, known: Set<string>): void {
  const { stored } = served;
  const decoded = attempt(() => served.decode(body));
  const applied = attempt(() => applyTo(served, undefined, body));
  if (decoded === undefined || applied === undefined) return;
  const text = JSON.stringify(decoded);
  if (known.has(text)) return;
  known.add(text);
  const object = stateSent(served, structuredClone(decoded));
  attempt(() => ownership.created(served, object, BY));
  attempt(() => prepareForCreate(stored, object, USER, served.apiVersion));
  attempt(() => void validateForCreate(served, object));
  show(served, object);
  change(served, object, decoded);
}

/** An update to `sent`, of all of the object and of its status, and an apply. */
function change(served: ServedResource, old: ApiObject, sent: ApiObject): void {
  for (const part of ['', 'status'] as const) {
    const next = attempt(() =>
      prepareForUpdate(served, part, stateSent(served, structuredClone(sent)), structuredClone(old)),
    );
    if (next === undefined) continue;
    attempt(() => void validateForUpdate(served, part, next, old));
    attempt(() => ownership.changed(served, next, old, { managers: undefined, whole: true }, BY));
    show(served, next);
  }
  attempt(() => applyTo(served, old, sent));
}

function applyTo(served: ServedResource, old: ApiObject | undefined, config: unknown): unknown {
  const { apiVersion, declaration } = served;
  const whole = { ...(config as JsonObject), apiVersion, kind: declaration.kind };
  const normalise = (object: unknown): Work<ApiObject> => served.decoding(object);
  return ownership.applied(served, old, whole, BY, { force: true, normalise });
}

/** Every form that an object is stored and shown in. */
function show(served: ServedResource, object: ApiObject): void {
  const { declaration, type } = served;
  const named = { ...object, metadata: { ...object.metadata, name: 'x' } };
  JSON.parse(encodeObject(named).toString());
  columnsOf(declaration.table).cells(object);
  const shown = served.fromStorage(structuredClone(named));
  if (hasWireForm(type)) encodeProtobuf(type, shown as unknown as JsonObject); // JSON
}

const BASE = { metadata: { name: 'x', namespace: 'default' } };
/** What these hold inside is the same in all, and is looked at in pods and in one kind that has a template of them. */
const EVERYWHERE: readonly string[] = ['core/v1.PodSpec', 'meta/v1.ObjectMeta'];
const LOOKED_INTO: readonly string[] = ['Pod', 'Deployment'];
const shownPlace = (place: Place): string => place.join('.');

describe('odd values', () => {
  for (const declaration of catalog.resources) {
    if (declaration.virtual || !declaration.servedByDefault) continue;
    const { group, version, resource, kind, type } = declaration;
    it(`at any place of ${group === '' ? 'core' : group}/${version} ${kind} are stored or refused`, () => {
      const served = servedAs(group, version, resource);
      const known = new Set<string>();
      for (const place of placesOf(catalog, type, LOOKED_INTO.includes(kind) ? [] : EVERYWHERE)) {
        if (place[0] === 'kind' || place[0] === 'apiVersion') continue;
        for (const value of ODD_VALUES) {
          try {
            goThrough(served, withValueAt(BASE, place, value), known);
          } catch (err) {
            throw new Error(`${shownPlace(place)}: ${JSON.stringify(value)}`, { cause: err });
          }
        }
      }
    });
  }
});
