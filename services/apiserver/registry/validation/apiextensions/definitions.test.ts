import assert from 'node:assert/strict';
import { changed, KindUnderTest } from '../testing/cases.js';
import { SUBDOMAIN } from '../testing/words.js';

const group = 'apiextensions.k8s.io';
const DNS_1035 =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

describe('validation of definitions of custom resources', () => {
  const kind = new KindUnderTest({
    group,
    resource: 'customresourcedefinitions',
    type: `${group}/v1.CustomResourceDefinition`,
  });
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } };
  const definition = {
    apiVersion: `${group}/v1`,
    kind: 'CustomResourceDefinition',
    metadata: { name: 'crontabs.stable.example.com' },
    spec: {
      group: 'stable.example.com',
      scope: 'Namespaced',
      names: { plural: 'crontabs', singular: 'crontab', kind: 'CronTab', shortNames: ['ct'], categories: ['all'] },
      versions: [version, { ...structuredClone(version), name: 'v1beta1', storage: false }],
    },
  };
  const N = 'spec.names';
  const NAME = 'must be spec.names.plural+"."+spec.group';
  const MIXED = 'may have mixed case, but should otherwise match';
  kind.acceptsManifest('a definition', definition);
  kind.refuses(definition, [
    [{ 'metadata.name': 'a.b.c' }, 'metadata.name', `Invalid value: "a.b.c": ${NAME}`],
    [{ 'metadata.name': 'crontabs.', 'spec.group': '' }, 'spec.group', 'Required value'],
    [{ 'metadata.name': 'crontabs.A', 'spec.group': 'A' }, 'spec.group', `Invalid value: "A": ${SUBDOMAIN}`],
    [
      { 'metadata.name': 'crontabs.a', 'spec.group': 'a' },
      'spec.group',
      'Invalid value: "a": should be a domain with at least one dot',
    ],
    [{ 'spec.scope': '' }, 'spec.scope', 'Required value'],
    [{ 'spec.scope': 'World' }, 'spec.scope', 'Unsupported value: "World": supported values: "Cluster", "Namespaced"'],
    [{ 'spec.versions.0.name': '1' }, 'spec.versions[0].name', `Invalid value: "1": ${DNS_1035}`],
    [
      { 'spec.versions.1.name': 'v1' },
      'spec.versions',
      'Invalid value: ["v1","v1"]: must contain unique version names',
    ],
    [
      { 'spec.versions.1.storage': true },
      'spec.versions',
      'Invalid value: ["v1","v1beta1"]: must have exactly one version marked as storage version',
    ],
    [
      { 'spec.versions': [] },
      'spec.versions',
      'Invalid value: []: must have exactly one version marked as storage version',
    ],
    [{ 'metadata.name': '.stable.example.com', [`${N}.plural`]: '' }, `${N}.plural`, 'Required value'],
    [{ [`${N}.kind`]: '' }, `${N}.kind`, 'Required value'],
    [{ [`${N}.singular`]: 'A' }, `${N}.singular`, `Invalid value: "A": ${DNS_1035}`],
    [
      { [`${N}.kind`]: 'Cron Tab', [`${N}.listKind`]: 'L' },
      `${N}.kind`,
      `Invalid value: "Cron Tab": ${MIXED}: ${DNS_1035}`,
    ],
    [
      { [`${N}.listKind`]: 'CronTab' },
      `${N}.listKind`,
      'Invalid value: "CronTab": kind and listKind may not be the same',
    ],
    [{ [`${N}.shortNames`]: ['C'] }, `${N}.shortNames[0]`, `Invalid value: "C": ${DNS_1035}`],
    [{ [`${N}.categories`]: ['C'] }, `${N}.categories[0]`, `Invalid value: "C": ${DNS_1035}`],
    [{ [`${N}.categories`]: ['c', ''] }, `${N}.categories[1]`, `Invalid value: "": ${DNS_1035}`],
  ]);
  describe('schemas', () => {
    const S = 'spec.versions.0.schema.openAPIV3Schema';
    const AT = 'spec.versions[0].schema.openAPIV3Schema';
    const EMBEDDED = 'x-kubernetes-embedded-resource';
    const EITHER = 'x-kubernetes-int-or-string';
    const PRESERVE = 'x-kubernetes-preserve-unknown-fields';
    const NO_TYPE = 'Required value: must not be empty for specified object fields';
    const cases: readonly (readonly [schema: object, ...fieldsAndMessages: string[]])[] = [
      [{}, '.type', 'Required value: must not be empty at the root'],
      [{ type: 'string' }, '.type', 'Invalid value: "string": must be object at the root'],
      [{ type: 'object', properties: { a: {} } }, '.properties[a].type', NO_TYPE],
      [
        { type: 'object', properties: { a: { properties: { 'b.c': { description: 'no type' } } } } },
        '.properties[a].properties[b.c].type',
        NO_TYPE,
        '.properties[a].type',
        NO_TYPE,
      ],
      [
        { type: 'object', properties: { a: { type: 'array' } } },
        '.properties[a].items',
        'Required value: must be specified',
      ],
      [
        { type: 'object', properties: { a: { type: 'array', items: {} } } },
        '.properties[a].items.type',
        'Required value: must not be empty for specified array items',
      ],
      [
        { type: 'object', properties: { a: { type: 'array', items: [{ type: 'string' }] } } },
        '.properties[a].items',
        'Forbidden: items must be a schema object and not an array',
      ],
      [
        { type: 'object', properties: { a: { type: 'object', additionalProperties: {} } } },
        '.properties[a].additionalProperties.type',
        NO_TYPE,
      ],
      [
        { type: 'object', additionalProperties: { type: 'string' } },
        '.additionalProperties',
        'Forbidden: must not be used at the root',
      ],
      [
        { type: 'object', properties: { a: { [EITHER]: true, [PRESERVE]: true } } },
        `.properties[a].${PRESERVE}`,
        `Invalid value: true: must be false if ${EITHER} is true`,
      ],
      [
        { type: 'object', properties: { a: { [EMBEDDED]: true, [PRESERVE]: true } } },
        '.properties[a].type',
        `Required value: must be object if ${EMBEDDED} is true`,
      ],
      [
        {
          type: 'object',
          properties: { a: { [EMBEDDED]: true, type: 'string', properties: { kind: { type: 'string' } } } },
        },
        '.properties[a].type',
        `Invalid value: "string": must be object if ${EMBEDDED} is true`,
      ],
      [
        {
          type: 'object',
          properties: { a: { [EMBEDDED]: true, type: 'object', additionalProperties: { type: 'string' } } },
        },
        '.properties[a].additionalProperties',
        `Forbidden: must not be used if ${EMBEDDED} is set`,
        '.properties[a].properties',
        `Required value: must not be empty if ${EMBEDDED} is true without ${PRESERVE}`,
      ],
      [{ type: 'object', nullable: true }, '.nullable', 'Forbidden: nullable cannot be true at the root'],
      ...[
        { description: 'd' },
        { required: ['name'] },
        { maxProperties: 3 },
        { nullable: true },
        { additionalProperties: true },
        { additionalProperties: false },
        { [PRESERVE]: true },
        { properties: { labels: { type: 'object' } } },
        { properties: { name: { type: 'string' }, uid: { type: 'string' } } },
        { 'x-kubernetes-validations': [{ rule: 'true' }] },
      ].map(
        (said) =>
          [
            { type: 'object', properties: { metadata: { type: 'object', ...said } } },
            '.properties[metadata]',
            'Forbidden: must not specify anything other than name and generateName, but metadata is implicitly specified',
          ] as const,
      ),
      [
        { type: 'object', properties: { kind: { type: 'integer' }, metadata: { type: 'string' } } },
        '.properties[kind].type',
        'Invalid value: "integer": must be string',
        '.properties[metadata].type',
        'Invalid value: "string": must be object',
      ],
    ];
    kind.refuses(
      definition,
      cases.map(([schema, ...told]) => [{ [S]: schema }, ...told.map((text, i) => (i % 2 === 0 ? AT + text : text))]),
    );
    kind.refuses(definition, [
      [{ 'spec.versions.0.schema': undefined }, AT, 'Required value: schemas are required'],
      [{ [S]: undefined }, AT, 'Required value: schemas are required'],
    ]);
    const properties = {
      either: { [EITHER]: true },
      any: { [PRESERVE]: true },
      map: { type: 'object', additionalProperties: { [EITHER]: true } },
      anything: { type: 'object', additionalProperties: true },
      list: { type: 'array', items: { type: 'string' } },
      object: { [EMBEDDED]: true, [PRESERVE]: true, type: 'object' },
      bounded: { type: 'string', anyOf: [{ pattern: 'a' }, { maxLength: 3 }] },
    };
    kind.accepts(definition, [{ [S]: { type: 'object', properties } }, { [S]: { [PRESERVE]: true } }]);

    const lax = changed(definition, { [S]: { type: 'object', properties: { a: {} } } });
    kind.acceptsUpdates(lax, [{ 'spec.names.shortNames': ['c'] }, { [`${S}.properties.b`]: {} }]);
    kind.acceptsUpdates(changed(definition, { [S]: undefined }), [{ 'spec.names.shortNames': ['c'] }]);
    kind.refusesUpdates(definition, [
      [{ [`${S}.properties`]: { a: {} } }, `${AT}.properties[a].type`, NO_TYPE],
      [{ [S]: undefined }, AT, 'Required value: schemas are required'],
    ]);
  });

  describe('what schemas say', () => {
    const S = 'spec.versions.0.schema.openAPIV3Schema';
    const A = 'spec.versions[0].schema.openAPIV3Schema.properties[a]';
    const x = (name: string): string => `x-kubernetes-${name}`;
    const text = { type: 'string' };
    const listOf = (marker: string, items: object, more: object = {}): object => ({
      type: 'array',
      items,
      [x('list-type')]: marker,
      ...more,
    });
    const item = (more: object = {}): object => ({ type: 'object', properties: { n: text }, ...more });
    const keyed = { [x('list-map-keys')]: ['n'] };
    const inKeys = `this property is in ${x('list-map-keys')}, so it`;
    const cases: readonly (readonly [schema: object, ...fieldsAndMessages: string[]])[] = [
      [
        { type: 'null' },
        '.type',
        'Forbidden: type cannot be set to null, use nullable as an alternative',
        '.type',
        'Unsupported value: "null": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
      [
        { type: 'text' },
        '.type',
        'Unsupported value: "text": supported values: "array", "boolean", "integer", "number", "object", "string"',
      ],
      [
        { ...text, pattern: '(' },
        '.pattern',
        'Invalid value: "(": must be a valid regular expression, but isn\'t: error parsing regexp: missing closing ): `(`',
      ],
      [
        { type: 'array', items: text, uniqueItems: true },
        '.uniqueItems',
        'Forbidden: uniqueItems cannot be set to true since the runtime complexity becomes quadratic',
      ],
      [{ ...text, $ref: '#/a' }, '.$ref', 'Forbidden: $ref is not supported'],
      [
        { type: 'object', properties: { b: text }, additionalProperties: text },
        '.additionalProperties',
        'Forbidden: additionalProperties and properties are mutual exclusive',
      ],
      [
        { type: 'object', [x('map-type')]: 'other' },
        `.${x('map-type')}`,
        'Unsupported value: "other": supported values: "atomic", "granular"',
      ],
      [
        { ...text, [x('map-type')]: 'atomic' },
        '.type',
        `Invalid value: "string": must be object if ${x('map-type')} is specified`,
      ],
      [
        { ...text, [x('list-type')]: 'set' },
        '.type',
        `Invalid value: "string": must be array if ${x('list-type')} is specified`,
      ],
      [
        listOf('other', text),
        `.${x('list-type')}`,
        'Unsupported value: "other": supported values: "atomic", "set", "map"',
      ],
      [
        listOf('set', item()),
        `.items.${x('map-type')}`,
        `Invalid value: "null": must be atomic as item of a list with ${x('list-type')}=set`,
      ],
      [
        listOf('set', { ...text, nullable: true }),
        '.items.nullable',
        `Forbidden: cannot be nullable when ${x('list-type')} is set`,
      ],
      [
        { type: 'array', items: item({ required: ['n'] }), ...keyed },
        `.${x('list-type')}`,
        `Required value: must be map if ${x('list-map-keys')} is non-empty`,
      ],
      [
        listOf('set', text, keyed),
        `.${x('list-type')}`,
        `Invalid value: "set": must be map if ${x('list-map-keys')} is non-empty`,
      ],
      [
        listOf('map', item()),
        `.${x('list-map-keys')}`,
        `Required value: must not be empty if ${x('list-type')} is map`,
      ],
      [
        listOf('map', text, keyed),
        '.items.type',
        `Invalid value: "string": must be object if parent array's ${x('list-type')} is map`,
      ],
      [
        listOf('map', item(), keyed),
        '.items.properties[n].default',
        `Required value: ${inKeys} must have a default or be a required property`,
      ],
      [
        listOf('map', item({ required: ['n'], properties: { n: { ...text, nullable: true } } }), keyed),
        '.items.properties[n].nullable',
        `Forbidden: ${inKeys} cannot be nullable`,
      ],
      [
        listOf('map', item({ required: ['n'] }), { [x('list-map-keys')]: ['n', 'n'] }),
        `.${x('list-map-keys')}`,
        'Invalid value: ["n","n"]: must not contain duplicate entries',
      ],
      [
        listOf('map', item({ required: ['m'] }), { [x('list-map-keys')]: ['m'] }),
        `.${x('list-map-keys')}`,
        'Invalid value: ["m"]: entries must all be names of item properties',
      ],
      [
        listOf('map', item({ required: ['n'], properties: { n: { type: 'object' } } }), keyed),
        '.items.properties[n].type',
        `Invalid value: "object": must be a scalar type if parent array's ${x('list-type')} is map`,
      ],
      [{ ...text, anyOf: [{ type: 'string' }] }, '.anyOf[0].type', 'Forbidden: must be empty to be structural'],
      [{ ...text, allOf: [{ default: 'a' }] }, '.allOf[0].default', 'Forbidden: must be undefined to be structural'],
      [{ ...text, not: { nullable: true } }, '.not.nullable', 'Forbidden: must be false to be structural'],
      [
        { type: 'object', oneOf: [{ properties: { b: { minLength: 1 } } }] },
        '.properties[b]',
        `Required value: because it is defined in ${A}.oneOf[0].properties[b]`,
      ],
      [
        { type: 'array', items: text, allOf: [{ items: { title: 't' } }] },
        '.allOf[0].items.title',
        'Forbidden: must be empty to be structural',
      ],
      [
        { ...text, default: 1 },
        '.default',
        `Invalid value: "integer": ${A}.default in body must be of type string: "integer"`,
      ],
      [
        { ...item(), default: { n: 'x', o: 1 } },
        '.default',
        'Invalid value: {"n":"x","o":1}: must not have unknown fields',
      ],
    ];
    for (const [schema, ...told] of cases) {
      it(JSON.stringify(schema), async () => {
        const object = changed(definition, { [S]: { type: 'object', properties: { a: schema } } });
        const found = (await kind.created(object)).map(({ field, message }) => [
          field,
          message.replace('default in body', `${A}.default in body`),
        ]);
        const wanted = told.flatMap((it, i) => (i % 2 === 0 ? [[A + it, told[i + 1]]] : []));
        assert.deepEqual(found, wanted);
      });
    }
    kind.accepts(definition, [
      {
        [S]: {
          type: 'object',
          properties: {
            a: { [x('int-or-string')]: true, anyOf: [{ type: 'integer' }, { type: 'string' }], default: '50%' },
          },
        },
      },
      {
        [S]: {
          type: 'object',
          properties: { a: listOf('map', item({ properties: { n: { ...text, default: 'x' } } }), keyed) },
        },
      },
    ]);
  });

  describe('rules', () => {
    const S = 'spec.versions.0.schema.openAPIV3Schema';
    const A = 'spec.versions[0].schema.openAPIV3Schema.properties[a]';
    const rules = (...list: readonly object[]): object => ({ 'x-kubernetes-validations': list });
    const number = (rule: string, more: object = {}): object => ({ type: 'integer', ...rules({ rule, ...more }) });
    const cases: readonly (readonly [schema: object, field: string, why: RegExp])[] = [
      [
        number('self > "a"'),
        '.x-kubernetes-validations[0].rule',
        /compilation failed: ERROR: <input>:1:6: found no matching overload for '_>_' applied to '\(int, string\)'/,
      ],
      [number('self'), '.x-kubernetes-validations[0].rule', /cel expression must evaluate to a bool/],
      [
        number('true', { messageExpression: '1' }),
        '.x-kubernetes-validations[0].messageExpression',
        /must evaluate to a string/,
      ],
      [number(' '), '.x-kubernetes-validations[0].rule', /rule is not specified/],
      [number('true', { reason: 'Because' }), '.x-kubernetes-validations[0].reason', /Unsupported value: "Because"/],
      [number('true', { message: 'a\nb' }), '.x-kubernetes-validations[0].message', /must not contain line breaks/],
      [
        number('true', { optionalOldSelf: true }),
        '.x-kubernetes-validations[0].optionalOldSelf',
        /may not be set if oldSelf is not used/,
      ],
      [
        { type: 'array', items: number('self > oldSelf') },
        '.items.x-kubernetes-validations[0].rule',
        /uncorrelatable portion of the schema within .*properties\[a\]$/,
      ],
      [{ ...number('self > 1'), default: 1 }, '.default', /failed rule: self > 1/],
      [
        { type: 'object', additionalProperties: { type: 'integer', default: 'x' } },
        '.additionalProperties.default',
        /must be of type integer/,
      ],
      [{ type: 'array', items: { type: 'integer', default: 'x' } }, '.items.default', /must be of type integer/],
    ];
    for (const [schema, field, why] of cases) {
      it(JSON.stringify(schema), async () => {
        const [problem, ...more] = await kind.created(
          changed(definition, { [S]: { type: 'object', properties: { a: schema } } }),
        );
        assert.equal(problem?.field, A + field);
        assert.match(problem.message, why);
        assert.deepEqual(more, []);
      });
    }
    kind.accepts(definition, [
      {
        [S]: {
          type: 'object',
          properties: { a: number('self >= oldSelf || self == 0') },
          ...rules({ rule: 'self.metadata.name != "x"' }),
        },
      },
    ]);
  });

  describe('what rules cost', () => {
    const S = 'spec.versions.0.schema.openAPIV3Schema';
    const root = 'spec.versions[0].schema.openAPIV3Schema';
    const at = (name: string, member = 'rule'): string =>
      `${root}.properties[${name}].x-kubernetes-validations[0].${member}`;
    const HINT =
      '(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)';
    const dear = (what: string, factor: string): string =>
      `Forbidden: ${what} exceeds budget by factor of ${factor}x ${HINT}`;
    const SHARE =
      'Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const ALL = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    /** A list of so many numbers, with a rule that costs 3 for each. */
    const numbers = (maxItems?: number, more: object = {}): object => ({
      type: 'array',
      items: { type: 'number' },
      maxItems,
      'x-kubernetes-validations': [{ rule: 'self.all(x, true)', ...more }],
    });
    const withSchema = (properties: object): Readonly<Record<string, unknown>> =>
      changed(definition, { [S]: { type: 'object', properties } });
    const told = async (properties: object): Promise<(readonly [string, string])[]> =>
      (await kind.created(withSchema(properties))).map(({ field, message }) => [field, message] as const);
    const quadratic = { rule: 'self.all(x, self.all(y, x == y))' };

    it('is bounded for each', async () => {
      assert.deepEqual(await told({ a: numbers() }), []);
      assert.deepEqual(await told({ a: numbers(3_333_332) }), []);
      assert.deepEqual(await told({ a: numbers(4_000_000) }), [[at('a'), dear('estimated rule cost', '1.200000')]]);
      assert.deepEqual(await told({ a: numbers(8_333_333) }), [[at('a'), dear('estimated rule cost', '2.5')]]);
      const message = 'self.filter(x, x > 3.0).size() > 1 ? "a" : "b"';
      assert.deepEqual(await told({ a: numbers(1_000_000, { messageExpression: message }) }), [
        [at('a', 'messageExpression'), dear('estimated messageExpression cost', '1.5')],
      ]);
    });

    it('is bounded for all together, of which the dearest are told', async () => {
      const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k'];
      const sizes = names.map((name, i) => [name, 3_100_000 + i] as const);
      const properties = Object.fromEntries(sizes.map(([name, most]) => [name, numbers(most)]));
      assert.deepEqual(await told(properties), [
        ...['k', 'j', 'i', 'h'].map((name) => [at(name), SHARE] as const),
        [root, dear(ALL, '1.023002')],
      ]);
    });

    it('is multiplied by how many values there may be', async () => {
      const lists = (maxItems?: number): object => ({ a: { type: 'array', maxItems, items: numbers(1_000) } });
      assert.deepEqual(await told(lists(3_000)), []);
      const place = `${root}.properties[a].items.x-kubernetes-validations[0].rule`;
      assert.deepEqual(await told(lists(4_000)), [[place, dear('estimated rule cost', '1.200800')]]);
      const maps = { a: { type: 'object', maxProperties: 4_000, additionalProperties: numbers(1_000) } };
      const ofMaps = `${root}.properties[a].additionalProperties.x-kubernetes-validations[0].rule`;
      assert.deepEqual(await told(maps), [[ofMaps, dear('estimated rule cost', '1.200800')]]);
      assert.deepEqual(await told(lists()), [
        [place, dear('estimated rule cost', 'more than 100')],
        [place, SHARE],
        [root, dear(ALL, '31.5')],
      ]);
    });

    it('is small for names of whole objects, which are short', async () => {
      const named = { rule: 'self.kind == self.metadata.name' };
      const schema = { type: 'object', 'x-kubernetes-validations': [named] };
      assert.deepEqual(await kind.created(changed(definition, { [S]: schema })), []);
    });

    it('is not asked of schemas that are stored as they are', async () => {
      const stored = withSchema({ a: numbers(undefined, quadratic) });
      assert.equal((await kind.created(stored)).length, 3);
      assert.deepEqual(await kind.updated(changed(stored, { 'spec.names.shortNames': ['c'] }), stored), []);
      const next = changed(stored, { [`${S}.properties.b`]: { type: 'string' } });
      assert.equal((await kind.updated(next, stored)).length, 3);
    });
  });

  describe('what versions say beside their schemas', () => {
    const V = 'spec.versions[0]';
    const schema = {
      type: 'object',
      properties: { spec: { type: 'object', properties: { a: { type: 'string' }, n: { type: 'number' } } } },
    };
    const selectable = (...paths: readonly string[]): object => ({
      schema: { openAPIV3Schema: schema },
      selectableFields: paths.map((jsonPath) => ({ jsonPath })),
    });
    const scale = (specReplicasPath: string, statusReplicasPath: string, labelSelectorPath?: string): object => ({
      subresources: {
        scale: {
          specReplicasPath,
          statusReplicasPath,
          ...(labelSelectorPath === undefined ? {} : { labelSelectorPath }),
        },
      },
    });
    const cases: readonly (readonly [version: object, field: string, message: string])[] = [
      [
        { deprecationWarning: 'x' },
        '.deprecationWarning',
        'Invalid value: "x": can only be set for deprecated versions',
      ],
      [
        { deprecated: true, deprecationWarning: '' },
        '.deprecationWarning',
        'Invalid value: "": must not be an empty string',
      ],
      [
        { deprecated: true, deprecationWarning: 'a\nb' },
        '.deprecationWarning',
        'Invalid value: "a\\nb": must only contain printable UTF-8 characters; non-printable character found at index 1',
      ],
      [
        { additionalPrinterColumns: [{ name: 'A', type: 'text', jsonPath: '.a' }] },
        '.additionalPrinterColumns[0].type',
        'Invalid value: "text": must be one of boolean,date,integer,number,string',
      ],
      [
        { additionalPrinterColumns: [{ name: 'A', type: 'date', jsonPath: 'a' }] },
        '.additionalPrinterColumns[0].JSONPath',
        'Invalid value: "a": must be a simple json path starting with .',
      ],
      [
        scale('.status.n', '.status.n'),
        '.subresources.scale.specReplicasPath',
        'Invalid value: ".status.n": should be a json path under .spec',
      ],
      [
        scale('.spec.n', 'n'),
        '.subresources.scale.statusReplicasPath',
        'Invalid value: "n": must be a simple json path starting with .',
      ],
      [
        scale('.spec.n', '.status.n', '.a'),
        '.subresources.scale.labelSelectorPath',
        'Invalid value: ".a": should be a json path under either .spec or .status',
      ],
      [
        selectable('.spec.b'),
        '.selectableFields[0].jsonPath',
        'Invalid value: ".spec.b": is an invalid path: does not refer to a valid field',
      ],
      ...(
        [
          ['spec.a', 'expected [ or . but got: spec'],
          ['.spec]', 'expected [ or . but got: ]'],
          ["'a.b'.c", "expected [ or . but got: 'a.b'"],
          ['.spec.', 'unexpected end of JSON path'],
          ["['spec']", 'array notation is not allowed'],
          ['.spec[0]', 'array notation is not allowed'],
          ['.spec.a.b', 'does not refer to a valid field'],
          ['.constructor', 'does not refer to a valid field'],
          ['.metadata.name', 'does not refer to a valid field'],
        ] as const
      ).map(
        ([path, why]) =>
          [
            selectable(path),
            '.selectableFields[0].jsonPath',
            `Invalid value: ${JSON.stringify(path)}: is an invalid path: ${why}`,
          ] as const,
      ),
      [selectable('.spec.a', '.spec.a'), '.selectableFields[1].jsonPath', 'Duplicate value: ".spec.a"'],
      [
        selectable('.spec.n'),
        '.selectableFields[0].jsonPath',
        'Invalid value: ".spec.n": must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.',
      ],
    ];
    for (const [version_, field, message] of cases) {
      it(`${field}: ${message}`, async () => {
        const object = changed(
          definition,
          Object.fromEntries(Object.entries(version_).map(([name, value]) => [`spec.versions.0.${name}`, value])),
        );
        assert.deepEqual(
          (await kind.created(object)).map((it) => [it.field, it.message]),
          [[V + field, message]],
        );
      });
    }
    describe('where the status is written apart', () => {
      const problems = async (root: object): Promise<readonly string[]> => {
        const version_ = { schema: { openAPIV3Schema: { ...schema, ...root } }, subresources: { status: {} } };
        const changes = Object.entries(version_).map(([name, value]): [string, unknown] => [
          `spec.versions.0.${name}`,
          value,
        ]);
        const found = await kind.created(changed(definition, Object.fromEntries(changes)));
        return found.map(({ field, message }) => `${field.slice(V.length)}: ${message}`);
      };
      const ROOT = '.schema.openAPIV3Schema';
      const APART = 'at the root of the schema if the status subresource is enabled';

      it('the schema of whole objects may say little', async () => {
        for (const [member, value] of Object.entries({
          allOf: [{ required: ['spec'] }],
          enum: [{}],
          maxProperties: 5,
          'x-kubernetes-map-type': 'atomic',
        })) {
          const [found = '', ...others] = await problems({ [member]: value });
          assert.ok(found.startsWith(`${ROOT}: Invalid value: [${JSON.stringify(member)}]: only description, type, `), found); // prettier-ignore
          assert.ok(found.endsWith(` fields are allowed ${APART}`), found);
          assert.deepEqual(others, []);
        }
      });

      it('can be selected by keys of maps', async () => {
        const map = { type: 'object', additionalProperties: { type: 'string' } };
        const root = { type: 'object', properties: { map } };
        const version_ = { 'spec.versions.0.schema': { openAPIV3Schema: root }, 'spec.versions.0.selectableFields': [{ jsonPath: '.map.a@b' }] }; // prettier-ignore
        assert.deepEqual(await kind.created(changed(definition, version_)), []);
      });

      it('may ask something of names', async () => {
        const name = { type: 'string', pattern: '^a' };
        for (const properties of [{ name }, { generateName: name }, { name, generateName: name }, {}]) {
          assert.deepEqual(await problems({ properties: { metadata: { type: 'object', description: '', properties } } }), []); // prettier-ignore
        }
      });

      it('and that it is an object', async () => {
        assert.deepEqual(await problems({ type: 'string' }), [
          `${ROOT}.type: Invalid value: "string": must be object at the root`,
          `${ROOT}.type: Invalid value: "string": only "object" is allowed as the type ${APART}`,
        ]);
      });

      it('but describe it, ask rules of it, and keep what it does not know', async () => {
        const rules = [{ rule: 'true' }];
        const root = { description: 'd', title: '', required: ['spec'], 'x-kubernetes-validations': rules, 'x-kubernetes-preserve-unknown-fields': true }; // prettier-ignore
        assert.deepEqual(await problems(root), []);
      });
    });

    kind.refuses(definition, [
      [
        { 'spec.conversion': { strategy: 'Magic' } },
        'spec.conversion.strategy',
        'Unsupported value: "Magic": supported values: "None", "Webhook"',
      ],
      [
        { 'spec.preserveUnknownFields': true },
        'spec.preserveUnknownFields',
        'Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ]);
  });

  describe('approval', () => {
    const ours = changed(definition, { 'spec.group': 'x.k8s.io', 'metadata.name': 'crontabs.x.k8s.io' });
    const at = 'metadata.annotations[api-approved.kubernetes.io]';
    it('is needed in groups of the product itself', async () => {
      assert.deepEqual(
        (await kind.created(ours)).map(({ field, reason }) => [field, reason]),
        [[at, 'FieldValueRequired']],
      );
      const approved = changed(ours, { 'metadata.annotations': { 'api-approved.kubernetes.io': 'https://a.b/c' } });
      assert.deepEqual(await kind.created(approved), []);
      const odd = changed(ours, { 'metadata.annotations': { 'api-approved.kubernetes.io': 'because' } });
      assert.deepEqual(
        (await kind.created(odd)).map(({ field, reason }) => [field, reason]),
        [[at, 'FieldValueInvalid']],
      );
    });
    kind.acceptsUpdates(ours, [{ 'spec.names.shortNames': ['c'] }]);
  });

  const established = changed(definition, { 'status.conditions': [{ type: 'Established', status: 'True' }] });
  kind.refusesUpdates(established, [
    [{ 'spec.scope': 'Cluster' }, 'spec.scope', 'Invalid value: "Cluster": field is immutable'],
    [{ [`${N}.kind`]: 'Tab' }, `${N}.kind`, 'Invalid value: "Tab": field is immutable'],
    [
      { 'spec.group': 'example.com' },
      'metadata.name',
      `Invalid value: "crontabs.stable.example.com": ${NAME}`,
      'spec.group',
      'Invalid value: "example.com": field is immutable',
    ],
    [
      { [`${N}.plural`]: 'tabs' },
      'metadata.name',
      `Invalid value: "crontabs.stable.example.com": ${NAME}`,
      `${N}.plural`,
      'Invalid value: "tabs": field is immutable',
    ],
  ]);
  kind.acceptsUpdates(definition, [{ 'spec.scope': 'Cluster', [`${N}.kind`]: 'Tab' }]);
});
