import { isDeepStrictEqual } from 'node:util';
import { dns1123Subdomain } from '../../../../machinery/meta/names.js';
import { At } from '../checks/at.js';
import type { List } from '../checks/members.js';
import { each, requireText } from '../checks/members.js';
import type { KindValidation } from '../types.js';
import { checkStatus } from './conditions.js';
import type { FlowRule } from './flow-rules.js';
import { checkFlowRule } from './flow-rules.js';
import { EXEMPT, MANDATORY_FLOW_SCHEMAS } from './mandatory.js';

interface FlowSchemaSpec {
  readonly matchingPrecedence?: number;
  readonly distinguisherMethod?: { readonly type?: string };
  readonly priorityLevelConfiguration?: { readonly name?: string };
  readonly rules?: List<FlowRule>;
}

const MAX_PRECEDENCE = 10_000;
const METHODS = ['ByNamespace', 'ByUser'];

function checkPrecedence(at: At, precedence: number, name: string): void {
  const member = 'matchingPrecedence';
  if (precedence <= 0) at.invalid(member, precedence, 'must be a positive value');
  if (precedence > MAX_PRECEDENCE) at.invalid(member, precedence, `must not be greater than ${MAX_PRECEDENCE}`);
  if (precedence === 1 && name !== EXEMPT) {
    at.invalid(member, precedence, "only the schema named 'exempt' may have matchingPrecedence 1");
  }
}

export const flowSchemas: KindValidation = {
  object: (object, problems) => {
    const at = At.root(problems, 'spec');
    const { name = '' } = object.metadata;
    const spec: FlowSchemaSpec = object['spec'] ?? {};
    const { distinguisherMethod: method, matchingPrecedence = 1000 } = spec;
    checkPrecedence(at, matchingPrecedence, name);
    if (method !== undefined && !METHODS.includes(method.type ?? '')) {
      at.notSupported('distinguisherMethod.type', method, METHODS);
    }
    const level = spec.priorityLevelConfiguration?.name;
    requireText(at, 'priorityLevelConfiguration.name', level, dns1123Subdomain, 'must reference a priority level');
    each(at, 'rules', spec.rules, checkFlowRule);
    const fixed = MANDATORY_FLOW_SCHEMAS.get(name);
    if (fixed !== undefined && !isDeepStrictEqual(spec, fixed)) {
      at.invalid('', spec, `spec of '${name}' must equal the fixed value`);
    }
  },
  parts: { status: checkStatus },
};
