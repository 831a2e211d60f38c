const VERSION = /^\/apis\/([^/]+)\/([^/]+)\/?$/;

/** The version that a path names and goes no further than; undefined for another path. */
export function versionOf(path: string): { readonly group: string; readonly version: string } | undefined {
  const [, group, version] = VERSION.exec(path) ?? [];
  if (group === undefined || version === undefined) return undefined;
  const [g, v] = [decoded(group), decoded(version)];
  return g === undefined || v === undefined ? undefined : { group: g, version: v };
}

/** Where the sub-resource stands behind which a path is another server's own, as requests are parsed. */
const proxyAt = (segments: readonly string[]): number => {
  const at = segments[3] === 'namespaces' ? 7 : 5;
  return segments[at] === 'proxy' ? at : Infinity;
};

/**
 * Why a path is not passed on: its reader could take it for another one than was authorized here, as some take an escaped
 * slash for a slash, and go up at dots. undefined: it is.
 *
 * @param path As it was sent.
 */
export function pathProblem(path: string): string | undefined {
  const segments = path.split('/').slice(1);
  const last = segments.length - 1;
  const proxy = proxyAt(segments);
  for (const [i, segment] of segments.entries()) {
    const text = decoded(segment);
    if (text === undefined || text === '.' || text === '..')
      return 'The path has segments of dots, or malformed escapes';
    if (i > proxy) continue;
    if (/[/\\]/.test(text)) return 'The path has an escaped slash';
    if (text === '' && i < last) return 'The path has an empty segment';
  }
  return undefined;
}

function decoded(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
