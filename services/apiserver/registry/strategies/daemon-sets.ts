import { isDeepStrictEqual } from 'node:util';
import type { ApiObject } from '../../../machinery/meta/object.js';
import { valueAt } from '../parts.js';
import type { Strategy } from '../strategy.js';

/** How often the template has changed, as clients from before there were revisions read it. */
const TEMPLATE_GENERATION = 'deprecated.daemonset.template.generation';
const WHOLE = /^[1-9]\d{0,15}$/;

const annotated = ({ metadata }: ApiObject): string => {
  const value = metadata.annotations?.[TEMPLATE_GENERATION] ?? '';
  return WHOLE.test(value) ? value : '1';
};

function annotate({ metadata }: ApiObject, generation: string): void {
  metadata.annotations = { ...metadata.annotations, [TEMPLATE_GENERATION]: generation };
}

/** Its template is counted, and the count is the server's. */
export const daemonSets: Partial<Strategy> = {
  generation: 'spec',
  immutable: [['spec', 'selector']],
  statusLeaves: [['annotations', TEMPLATE_GENERATION]],
  prepareForCreate: (daemonSet) => annotate(daemonSet, annotated(daemonSet)),
  prepareForUpdate: (next, old) => {
    const template = ['spec', 'template'];
    const isSame = isDeepStrictEqual(valueAt(next, template), valueAt(old, template));
    annotate(next, isSame ? annotated(old) : String(Number(annotated(old)) + 1));
  },
};
