import { isDeepStrictEqual } from 'node:util';
import type { FlowSchema } from '../../../../machinery/types/generated/flowcontrol.v1beta2.js';
import { At } from '../checks/at.js';
import type { KindValidation } from '../types.js';
import { EXEMPT, MANDATORY_FLOW_SCHEMAS } from './mandatory.js';

const METHODS = ['ByNamespace', 'ByUser'];

export const flowSchemas: KindValidation<FlowSchema> = {
  object: ({ metadata: { name = '' }, spec = {} }, problems) => {
    const at = At.root(problems, 'spec');
    const { distinguisherMethod: method, matchingPrecedence: precedence } = spec;
    if (precedence === 1 && name !== EXEMPT) {
      const why = "only the schema named 'exempt' may have matchingPrecedence 1";
      at.invalid('matchingPrecedence', precedence, why);
    }
    if (method !== undefined && !METHODS.includes(method.type ?? '')) {
      at.notSupported('distinguisherMethod.type', method, METHODS);
    }
    const fixed = MANDATORY_FLOW_SCHEMAS.get(name);
    if (fixed !== undefined && !isDeepStrictEqual(spec, fixed)) {
      at.invalid('', spec, `spec of '${name}' must equal the fixed value`);
    }
  },
};
