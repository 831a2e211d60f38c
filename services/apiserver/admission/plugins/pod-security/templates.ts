import type { ApiObject } from '../../../../machinery/meta/object.js';

type Members = { readonly [member: string]: unknown } | undefined;

/** The template of the pods that an object makes; undefined where it has none. */
export type TemplateReader = (object: ApiObject) => Members;

const member = (of: Members, ...path: readonly string[]): Members =>
  path.reduce<Members>((here, step) => (here?.[step] ?? undefined) as Members, of); // decoded by its declaration

const ofSpec: TemplateReader = (object) => member(object, 'spec', 'template');

/** By resource. */
export const TEMPLATES: ReadonlyMap<string, TemplateReader> = new Map<string, TemplateReader>([
  ['podtemplates', (object) => member(object, 'template')],
  ['replicationcontrollers', ofSpec],
  ['replicasets.apps', ofSpec],
  ['deployments.apps', ofSpec],
  ['statefulsets.apps', ofSpec],
  ['daemonsets.apps', ofSpec],
  ['jobs.batch', ofSpec],
  ['cronjobs.batch', (object) => member(object, 'spec', 'jobTemplate', 'spec', 'template')],
]);
