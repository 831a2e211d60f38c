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
