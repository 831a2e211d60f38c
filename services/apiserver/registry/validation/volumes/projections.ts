import type { At } from '../checks/at.js';
import type { List } from '../checks/members.js';
import { checkRule, countOf, each, isUnset, requireTexts } from '../checks/members.js';
import { unreservedPath } from '../checks/text.js';
import type { FieldRef, ResourceFieldRef } from '../pods/environment.js';
import { checkFieldRef, checkResourceFieldRef, VOLUME_FIELDS } from '../pods/environment.js';
import type { KeyToPath, SourceCheck } from './sources.js';
import { checkFileMode, checkKeyToPath } from './sources.js';

interface DownwardFile {
  readonly path?: string;
  readonly mode?: number;
  readonly fieldRef?: FieldRef;
  readonly resourceFieldRef?: ResourceFieldRef;
}

interface Keys {
  readonly name?: string;
  readonly items?: readonly KeyToPath[];
}

interface Projection {
  readonly secret?: Keys;
  readonly configMap?: Keys;
  readonly downwardAPI?: { readonly items?: readonly DownwardFile[] };
  readonly serviceAccountToken?: { readonly path?: string; readonly expirationSeconds?: number };
}

/** Problems of all files are reported at the list's owner: so they always were. */
function checkDownwardFile(at: At, { path = '', mode, fieldRef, resourceFieldRef }: DownwardFile): void {
  if (path === '') at.required('path');
  checkRule(at, 'path', path, unreservedPath);
  if (fieldRef !== undefined) {
    checkFieldRef(at.child('fieldRef'), fieldRef, VOLUME_FIELDS);
    if (resourceFieldRef !== undefined) {
      at.invalid('', 'resource', 'fieldRef and resourceFieldRef can not be specified simultaneously');
    }
  } else if (resourceFieldRef !== undefined) {
    checkResourceFieldRef(at.child('resourceFieldRef'), resourceFieldRef, 'volume');
  } else {
    at.required('', 'one of fieldRef and resourceFieldRef is required');
  }
  checkFileMode(at, 'mode', mode);
}

export const downwardApi: SourceCheck = (at, source) => {
  checkFileMode(at, 'defaultMode', source.defaultMode);
  for (const file of (source['items'] ?? []) as readonly DownwardFile[]) checkDownwardFile(at, file);
};

const SHORTEST_SECONDS = 600;
const LONGEST_SECONDS = 2 ** 32;

function checkToken(at: At, seconds: number | undefined): void {
  if (seconds === undefined) return;
  if (seconds < SHORTEST_SECONDS) {
    at.invalid('expirationSeconds', seconds, 'may not specify a duration less than 10 minutes');
  }
  if (seconds > LONGEST_SECONDS) {
    at.invalid('expirationSeconds', seconds, 'may not specify a duration larger than 2^32 seconds');
  }
}

/** Sources of which one at most may be set. */
const KNOWN = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'];

export const projected: SourceCheck = (at, source) => {
  checkFileMode(at, 'defaultMode', source.defaultMode);
  const paths = new Set<string>();
  /** @param shown What a message about a path that is taken shows. */
  const take = (path: string | undefined, shown: string): void => {
    if (path === undefined || path === '') return;
    if (paths.has(path)) at.invalid('', shown, 'conflicting duplicate paths');
    paths.add(path);
  };
  each(at, 'sources', source['sources'] as List<Projection>, (projection, projectionAt) => {
    for (const member of ['secret', 'configMap'] as const) {
      const keys = projection[member];
      if (keys === undefined) continue;
      const keysAt = projectionAt.child(member);
      requireTexts(keysAt, { name: keys.name }, 'name');
      each(keysAt, 'items', keys.items, (item, itemAt) => {
        checkKeyToPath(item, itemAt, unreservedPath);
        take(item.path, keys.name ?? '');
      });
    }
    for (const file of projection.downwardAPI?.items ?? []) {
      checkDownwardFile(projectionAt.child('downwardAPI'), file);
      take(file.path, file.path ?? '');
    }
    const token = projection.serviceAccountToken;
    if (token !== undefined) {
      checkToken(projectionAt.child('serviceAccountToken'), token.expirationSeconds);
      if (isUnset(token.path)) at.required('path');
    }
    if (countOf(projection, KNOWN) > 1) projectionAt.forbidden('', 'may not specify more than 1 volume type');
  });
};
