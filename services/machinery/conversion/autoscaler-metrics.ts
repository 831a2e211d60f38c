import { isTree, present, treeOf, treesOf, type Tree } from './tree.js';

/**
 * One member of a metric in its two forms: flat, as autoscaling/v2beta1 and the annotations of autoscaling/v1 have it;
 * and its place in the nested form of autoscaling/v2. A number that the flat form requires is written there as "0" when
 * the nested form has none, and such a zero is dropped again when it comes back beside another number.
 */
type Row = readonly [flat: string, nested: readonly [string, string?], required?: 'required'];

const METRIC = [
  ['metricName', ['metric', 'name']],
  ['selector', ['metric', 'selector']],
] as const;
const EXTERNAL_METRIC = [
  ['metricName', ['metric', 'name']],
  ['metricSelector', ['metric', 'selector']],
] as const;

const RESOURCE_SPEC = [
  ['name', ['name']],
  ['container', ['container']],
  ['targetAverageUtilization', ['target', 'averageUtilization']],
  ['targetAverageValue', ['target', 'averageValue']],
] as const satisfies readonly Row[];
const RESOURCE_STATUS = [
  ['name', ['name']],
  ['container', ['container']],
  ['currentAverageUtilization', ['current', 'averageUtilization']],
  ['currentAverageValue', ['current', 'averageValue'], 'required'],
] as const satisfies readonly Row[];

type Sources = ReadonlyMap<string, readonly Row[]>;

const SPEC: Sources = new Map<string, readonly Row[]>([
  [
    'object',
    [
      ['target', ['describedObject']],
      ...METRIC,
      ['targetValue', ['target', 'value'], 'required'],
      ['averageValue', ['target', 'averageValue']],
    ],
  ],
  ['pods', [...METRIC, ['targetAverageValue', ['target', 'averageValue'], 'required']]],
  ['resource', RESOURCE_SPEC],
  ['containerResource', RESOURCE_SPEC],
  [
    'external',
    [...EXTERNAL_METRIC, ['targetValue', ['target', 'value']], ['targetAverageValue', ['target', 'averageValue']]],
  ],
]);

const STATUS: Sources = new Map<string, readonly Row[]>([
  [
    'object',
    [
      ['target', ['describedObject']],
      ...METRIC,
      ['currentValue', ['current', 'value'], 'required'],
      ['averageValue', ['current', 'averageValue']],
    ],
  ],
  ['pods', [...METRIC, ['currentAverageValue', ['current', 'averageValue'], 'required']]],
  ['resource', RESOURCE_STATUS],
  ['containerResource', RESOURCE_STATUS],
  [
    'external',
    [
      ...EXTERNAL_METRIC,
      ['currentValue', ['current', 'value'], 'required'],
      ['currentAverageValue', ['current', 'averageValue']],
    ],
  ],
]);

const ZERO = '0';

function flat(rows: readonly Row[], nested: Tree): Tree {
  const members = rows.map(([name, [outer, inner], required]) => {
    const value = inner === undefined ? nested[outer] : treeOf(nested[outer])[inner];
    return [name, value ?? (required === undefined ? undefined : ZERO)] as const;
  });
  return present(Object.fromEntries(members));
}

function nested(rows: readonly Row[], flatForm: Tree): Tree {
  const given = present(flatForm);
  /** Is another number there beside this one? */
  const hasOther = (row: Row): boolean => rows.some((r) => r !== row && r[1][0] === row[1][0] && r[0] in given);
  const tree: Record<string, unknown> = {};
  for (const row of rows) {
    const [name, [outer, inner], required] = row;
    const value = required !== undefined && given[name] === ZERO && hasOther(row) ? undefined : given[name];
    if (inner !== undefined) tree[outer] = { ...treeOf(tree[outer]), ...present({ [inner]: value }) };
    else if (value !== undefined) tree[outer] = value;
  }
  return tree;
}

/** The type of a nested target, which the flat form says by the member that is there. */
const TARGET_TYPES = [
  ['averageUtilization', 'Utilization'],
  ['averageValue', 'AverageValue'],
  ['value', 'Value'],
] as const;

function withTargetType(source: Tree): Tree {
  const target = treeOf(source['target']);
  const type = TARGET_TYPES.find(([number]) => number in target)?.[1] ?? 'AverageValue';
  return { ...source, target: { type, ...target } };
}

/** A function that changes the sources of each metric in a list; their `type` stays. */
const each =
  (sources: Sources, change: (rows: readonly Row[], source: Tree) => Tree) =>
  (metrics: unknown): readonly Tree[] =>
    treesOf(metrics).map((metric) =>
      Object.fromEntries(
        Object.entries(metric).map(([key, source]) => {
          const rows = sources.get(key);
          return [key, rows !== undefined && isTree(source) ? change(rows, source) : source];
        }),
      ),
    );

/** Lists of metrics from either form into the other: those of a spec, and those of a status. */
export const specMetrics = {
  flat: each(SPEC, flat),
  nested: each(SPEC, (rows, source) => withTargetType(nested(rows, source))),
} as const;
export const statusMetrics = { flat: each(STATUS, flat), nested: each(STATUS, nested) } as const;
