import { isDeepStrictEqual } from 'node:util';
import { qualifiedName } from '../../../../machinery/meta/names.js';
import type { ApiObject } from '../../../../machinery/meta/object.js';
import { At } from '../checks/at.js';
import type { List } from '../checks/members.js';
import { checkNotNegative, checkRule, each } from '../checks/members.js';
import type { KindValidation, Problems } from '../types.js';
import { checkDriverName } from '../volumes/sources.js';

interface NodeDriver {
  readonly name?: string;
  readonly nodeID?: string;
  readonly topologyKeys?: List<string>;
  readonly allocatable?: { readonly count?: number };
}

const driversOf = (node: ApiObject): List<NodeDriver> =>
  (node['spec'] as { readonly drivers?: List<NodeDriver> } | undefined)?.drivers;

const MAX_NODE_ID = 192;

function checkTopologyKeys(at: At, keys: List<string>): void {
  const seen = new Set<string>();
  for (const key of keys ?? []) {
    if (key === '') at.required('');
    if (seen.has(key)) at.duplicate('', key);
    seen.add(key);
    checkRule(at, '', key, qualifiedName);
  }
}

function checkNode(node: ApiObject, problems: Problems): void {
  const names = new Set<string>();
  each(At.root(problems, 'spec'), 'drivers', driversOf(node), (driver, at) => {
    const { name = '', nodeID = '' } = driver;
    checkDriverName(at, 'name', name);
    if (nodeID === '') at.required('nodeID');
    if (Buffer.byteLength(nodeID) > MAX_NODE_ID) {
      at.invalid('nodeID', nodeID, `must be ${MAX_NODE_ID} characters or less`);
    }
    checkNotNegative(at.child('allocatable'), 'count', driver.allocatable?.count);
    if (names.has(name)) at.duplicate('name', name);
    names.add(name);
    checkTopologyKeys(at, driver.topologyKeys);
  });
}

/** A driver is installed anew rather than changed. */
function checkUpdate(next: ApiObject, old: ApiObject, problems: Problems): void {
  const before = new Map((driversOf(old) ?? []).map((driver) => [driver.name ?? '', driver]));
  for (const driver of driversOf(next) ?? []) {
    const same = before.get(driver.name ?? '');
    if (same === undefined || isDeepStrictEqual(driver, same)) continue;
    At.root(problems).invalid('CSINodeDriver', driver, 'field is immutable');
  }
}

export const csiNodes: KindValidation = { object: checkNode, update: checkUpdate };
