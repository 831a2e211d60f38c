import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';

/** The annotation by which an operator decides whether servers keep an object. */
export interface Keeping {
  /** Key of the annotation with which an operator decides that. */
  readonly autoupdate: string;
  /** Servers decide, whatever the annotation says. */
  readonly mandatory: boolean;
}

/**
 * The update of a bootstrap object: its annotation says whether it is kept, and one that is kept has the spec that we
 * propose. Labels and all else stay as they are.
 *
 * @param present As stored; not changed. @param wanted As we propose it, with all defaults.
 * @returns The next state; undefined when all is well.
 */
export function reconciled(present: ApiObject, wanted: ApiObject, keeping: Keeping): ApiObject | undefined {
  const kept = keeping.mandatory || isKept(present, keeping.autoupdate);
  const { annotations = {} } = present.metadata;
  const spec = kept ? plain(wanted['spec']) : present['spec'];
  const saysSo = truthOf(annotations[keeping.autoupdate]) === kept;
  if (saysSo && isDeepStrictEqual(spec, present['spec'])) return undefined;
  const said = saysSo ? annotations : { ...annotations, [keeping.autoupdate]: String(kept) };
  return { ...present, metadata: { ...present.metadata, annotations: said }, spec };
}

/** Without the annotation, an object is kept until its spec is changed. */
const isKept = ({ metadata }: ApiObject, autoupdate: string): boolean =>
  truthOf(metadata.annotations?.[autoupdate]) ?? metadata.generation === 1;

/** Whether an object says that a server keeps it, and may remove it when there is no such object any more. */
export const isOurs = ({ metadata }: ApiObject, autoupdate: string): boolean =>
  truthOf(metadata.annotations?.[autoupdate]) === true && (metadata.finalizers ?? []).length === 0;

/** As values of truth are written in annotations; undefined for anything else. */
function truthOf(text: string | undefined): boolean | undefined {
  if (text === undefined) return undefined;
  if (TRUE.has(text)) return true;
  return FALSE.has(text) ? false : undefined;
}
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'true', 'True', 'TRUE']);
const FALSE: ReadonlySet<string> = new Set(['0', 'f', 'F', 'false', 'False', 'FALSE']);

/** As it is once it was stored: without what is undefined. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
