import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';

/** A type's key in its parts: `core/v1.Pod` is of group `core`, `resource.Quantity` has no version. */
export interface KeyParts {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

export function keyParts(key: string): KeyParts {
  const dot = key.lastIndexOf('.');
  const slash = key.lastIndexOf('/', dot);
  return {
    group: key.slice(0, slash < 0 ? dot : slash),
    version: slash < 0 ? '' : key.slice(slash + 1, dot),
    kind: key.slice(dot + 1),
  };
}

const HELPERS = {
  meta: 'apimachinery.pkg.apis.meta',
  intstr: 'apimachinery.pkg.util.intstr',
  resource: 'apimachinery.pkg.api.resource',
  runtime: 'apimachinery.pkg.runtime',
  version: 'apimachinery.pkg.version',
};

/**
 * The name of a type in documents, by its key: clients have ours built in. Others begin with their domain, backwards.
 */
export function modelNames(vocabulary: Vocabulary): (key: string) => string {
  const { openApiModelPrefix, groups, labels, reservedDomains } = vocabulary;
  const [aggregator = ''] = labels.apiServiceAutomanaged.split('.', 1); // the one identifier that begins with its name
  const packages = new Map<string, string>([
    ...Object.entries(HELPERS),
    [groups.apiextensions, 'apiextensions-apiserver.pkg.apis.apiextensions'],
    [groups.apiregistration, `${aggregator}.pkg.apis.apiregistration`],
  ]);
  return (key) => {
    const { group, version, kind } = keyParts(key);
    const [short = ''] = group.split('.', 1);
    const at = packages.get(group);
    const isOurs =
      at !== undefined || short === group || reservedDomains.some((domain) => group.endsWith(`.${domain}`));
    if (!isOurs) return [...group.split('.').reverse(), version, kind].join('.');
    return [`${openApiModelPrefix}${at ?? `api.${short}`}`, ...(version === '' ? [] : [version]), kind].join('.');
  };
}
