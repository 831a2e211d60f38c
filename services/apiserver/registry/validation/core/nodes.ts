import { dns1123Label, dns1123Subdomain } from '../../../../machinery/meta/metadata.js';
import type {
  Node,
  NodeAddress,
  NodeConfigSource,
  NodeSpec,
  NodeStatus,
} from '../../../../machinery/types/generated/core.v1.js';
import type { Vocabulary } from '../../../../machinery/vocabulary/vocabulary.js';
import { At, shownList, checkNoTwins, requireText } from '../checks/at.js';
import { type ResourceChecks, resourceChecks } from '../checks/quantities.js';
import { cidrVersion, dataKey } from '../checks/text.js';
import { checkTaints } from '../pods/spec.js';
import type { KindValidation, Problems } from '../types.js';

/** The first has a member of its own, which may stand alone. */
const cidrsOf = ({ podCIDR, podCIDRs = [] }: NodeSpec): readonly string[] =>
  podCIDR === undefined || podCIDRs.length > 0 ? podCIDRs : [podCIDR];

function checkCidrs(at: At, spec: NodeSpec): void {
  const cidrs = cidrsOf(spec);
  const versions = cidrs.map(cidrVersion);
  const listAt = at.child('podCIDRs');
  const seen = new Set<string>();
  const shown = shownList(cidrs);
  versions.forEach((version, i) => {
    if (version === 0) listAt.index(i).invalidShown('', shown, 'must be valid CIDR');
  });
  if (cidrs.length > 1) {
    if (cidrs.length > 2 || versions[0] === versions[1]) {
      at.invalidShown('podCIDRs', shown, 'may specify no more than one CIDR for each IP family');
    }
    cidrs.forEach((cidr, i) => {
      if (seen.has(cidr)) listAt.index(i).duplicate('', cidr);
      seen.add(cidr);
    });
  }
}

function checkConfigSource(at: At, { configMap: map }: NodeConfigSource, { nodeAgent }: Vocabulary): void {
  if (map === undefined) {
    at.invalid('', {}, 'exactly one reference subfield must be non-nil');
    return;
  }
  const configMap = map as Readonly<Record<string, string | undefined>>; // one member is called as the vocabulary has it
  const mapAt = at.child('configMap');
  for (const member of ['uid', 'resourceVersion']) {
    if (configMap[member] !== undefined) mapAt.forbidden(member, `${member} must not be set in spec`);
  }
  const { configKey: key } = nodeAgent;
  requireText(mapAt, 'namespace', configMap['namespace'], dns1123Label, 'namespace must be set');
  requireText(mapAt, 'name', configMap['name'], dns1123Subdomain, 'name must be set');
  requireText(mapAt, key, configMap[key], dataKey, `${key} must be set`);
}

const checkResources = (problems: Problems, status: NodeStatus, resources: ResourceChecks): void => {
  const at = At.root(problems, 'status');
  for (const member of ['capacity', 'allocatable'] as const) {
    for (const [name, quantity] of Object.entries(status[member] ?? {})) {
      resources.amount(at.child(`${member}.${name}`), name, quantity);
    }
  }
};

function checkAddresses(problems: Problems, { addresses }: NodeStatus): void {
  const identityOf = ({ type = '', address = '' }: NodeAddress): string => `${type}/${address}`;
  checkNoTwins(At.root(problems, 'status'), 'addresses', addresses, identityOf);
}

const isSame = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((item, i) => item === b[i]);

function checkUpdate(at: At, next: NodeSpec, old: NodeSpec): void {
  const oldCidrs = cidrsOf(old);
  if (oldCidrs.length > 0 && !isSame(oldCidrs, cidrsOf(next))) {
    at.forbidden('podCIDRs', 'node updates may not change podCIDR except from "" to valid');
  }
  if (old.providerID !== undefined && next.providerID !== old.providerID) {
    at.forbidden('providerID', 'node updates may not change providerID except from "" to valid');
  }
  if (next.externalID !== old.externalID) at.forbidden('externalID', 'may not be updated');
}

export function nodes(vocabulary: Vocabulary): KindValidation<Node> {
  const resources = resourceChecks(vocabulary);
  return {
    object: ({ spec = {}, status = {} }, problems) => {
      // At metadata, of all places: so they always were.
      checkTaints(At.root(problems, 'metadata'), 'taints', spec.taints);
      checkResources(problems, status, resources);
      checkCidrs(At.root(problems, 'spec'), spec);
    },
    update: ({ spec = {} }, { spec: old = {} }, problems) => {
      const at = At.root(problems, 'spec');
      checkUpdate(at, spec, old);
      if (spec.configSource !== undefined) checkConfigSource(at.child('configSource'), spec.configSource, vocabulary);
    },
    parts: {
      status: ({ status = {} }, _old, problems) => {
        checkResources(problems, status, resources);
        checkAddresses(problems, status);
      },
    },
  };
}
