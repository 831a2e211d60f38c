import type {
  DownwardAPIVolumeFile,
  DownwardAPIVolumeSource,
  ProjectedVolumeSource,
  VolumeProjection,
} from '../../../../machinery/types/generated/core.v1.js';
import { type At, checkRule, countOf, each, isUnset } from '../checks/at.js';
import { unreservedPath } from '../checks/text.js';
import { checkFieldRef, checkResourceFieldRef, VOLUME_FIELDS } from '../pods/containers.js';

const FILE_MODE = 'must be a number between 0 and 0777 (octal), both inclusive';

/** Problems of all files are reported at the list's owner: so they always were. */
function checkDownwardFile(at: At, { path = '', mode, fieldRef, resourceFieldRef }: DownwardAPIVolumeFile): void {
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
  if (mode !== undefined && (mode < 0 || mode > 0o777)) at.invalid('mode', mode, FILE_MODE);
}

export function checkDownwardFiles(at: At, { items = [] }: DownwardAPIVolumeSource): void {
  for (const file of items) checkDownwardFile(at, file);
}

/** Sources of which one at most may be set. */
const KNOWN = ['secret', 'configMap', 'downwardAPI', 'serviceAccountToken'];

/** The paths of a projection, and what a message about one that is taken shows. */
const pathsOf = ({ secret, configMap, downwardAPI }: VolumeProjection): readonly (readonly [string, string])[] => [
  ...[secret, configMap].flatMap((keys) =>
    (keys?.items ?? []).map(({ path = '' }) => [path, keys?.name ?? ''] as const),
  ),
  ...(downwardAPI?.items ?? []).map(({ path = '' }) => [path, path] as const),
];

export function checkProjected(at: At, { sources }: ProjectedVolumeSource): void {
  const paths = new Set<string>();
  each(at, 'sources', sources, (projection, projectionAt) => {
    for (const [path, shown] of pathsOf(projection)) {
      if (path === '') continue;
      if (paths.has(path)) at.invalid('', shown, 'conflicting duplicate paths');
      paths.add(path);
    }
    const token = projection.serviceAccountToken;
    if (token !== undefined && isUnset(token.path)) at.required('path');
    if (countOf(projection, KNOWN) > 1) projectionAt.forbidden('', 'may not specify more than 1 volume type');
  });
}
