import { groupVersionPath } from '../../machinery/meta/gvk.js';
import type { ServedGroup } from '../registry/served.js';
import type { PathWriter, PlainRead } from './path-writer.js';

/** The subject of one document of version 3; all of them together are the document of version 2. */
export interface Part {
  /** Where the document is, without the first slash: `apis/apps/v1` */
  readonly path: string;
  /** The declarations that only this document is made of. They are never changed. */
  readonly basis: object;
  write(writer: PathWriter): void;
}

const CORE: PlainRead = {
  path: '/api/',
  tag: 'core',
  operationId: 'getCoreAPIVersions',
  description: 'Tell the versions of the core group.',
  answer: 'meta/v1.APIVersions',
};
const GROUPS: PlainRead = {
  path: '/apis/',
  tag: 'apis',
  operationId: 'getAPIVersions',
  description: 'Tell the groups and their versions.',
  answer: 'meta/v1.APIGroupList',
};
const VERSION: PlainRead = {
  path: '/version/',
  tag: 'version',
  operationId: 'getCodeVersion',
  description: 'Tell the release of this server.',
  answer: 'version.Info',
  types: ['application/json'],
};

/** The parts of what is served, in its order. */
export function partsOf(groups: readonly ServedGroup[]): readonly Part[] {
  return [...groups.flatMap(ofGroup), read(GROUPS), read(VERSION)];
}

function ofGroup(group: ServedGroup): readonly Part[] {
  const { name } = group;
  const root: Part =
    name === '' ? read(CORE) : { path: `apis/${name}`, basis: group, write: (writer) => writer.addGroup(name) };
  const parts = group.versions.map((version): Part => ({
    path: groupVersionPath({ group: name, version: version.version }).slice(1),
    basis: version,
    write: (writer) => writer.addVersion(name, version),
  }));
  return [root, ...parts];
}

const read = (it: PlainRead): Part => ({
  path: it.path.slice(1, -1),
  basis: it,
  write: (writer) => writer.addRead(it),
});
