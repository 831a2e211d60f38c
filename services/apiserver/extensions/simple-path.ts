/** A step of a path: a name, or a name in brackets and quotes. */
const STEP = /\.([A-Za-z_][\w-]*)|\[(?:'((?:[^'\\]|\\.)+)'|"((?:[^"\\]|\\.)+)")\]/y;

/** The members on the way of a path such as `.spec.replicas`; undefined for one that is more than that. */
export function simplePath(path: string): readonly string[] | undefined {
  const steps: string[] = [];
  const step = new RegExp(STEP);
  while (step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) return undefined;
    steps.push(match[1] ?? (match[2] ?? match[3] ?? '').replace(/\\(.)/g, '$1'));
  }
  return steps.length === 0 ? undefined : steps;
}
