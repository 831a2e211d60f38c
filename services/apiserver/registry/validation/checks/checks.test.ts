import assert from 'node:assert/strict';
import type { Problems } from '../types.js';
import { At, shownList, shownMap } from './at.js';
import { isEmptySelector, selects } from './labels.js';
import { compareQuantities } from './quantities.js';
import * as text from './text.js';
import { KindUnderTest } from '../testing/cases.js';
import { processorMs } from '../../../../machinery/testing/processor-time.js';

describe('At', () => {
  it('tells its path as clients know it', () => {
    const at = At.root([], 'spec').child('containers').index(0).child('resources').child('limits').key('a.b/c');
    assert.equal(at.path, 'spec.containers[0].resources.limits[a.b/c]');
    assert.equal(At.root([]).child('data').key('x').path, 'data[x]');
  });

  it('reports a member, or the place itself', () => {
    const problems: Problems = [];
    const at = At.root(problems, 'spec').child('a');
    at.required('b');
    at.required('', 'why');
    at.tooMany('c', 3, 2);
    assert.deepEqual(problems, [
      { reason: 'FieldValueRequired', field: 'spec.a.b', message: 'Required value' },
      { reason: 'FieldValueRequired', field: 'spec.a', message: 'Required value: why' },
      { reason: 'FieldValueTooMany', field: 'spec.a.c', message: 'Too many: 3: must have at most 2 items' },
    ]);
  });

  it('reports what is not supported of a list', () => {
    const problems: Problems = [];
    At.root(problems).notSupportedShown('verbs', shownList(['$&']), ['get']);
    assert.equal(problems[0]?.message, 'Unsupported value: []string{"$&"}: supported values: "get"');
  });

  it('stops at a thousand problems, and shows the beginnings of long values', () => {
    const problems: Problems = [];
    const at = At.root(problems, 'spec');
    for (let i = 0; i < 2000; i++) at.invalid('a', 'x'.repeat(10_000), 'why');
    assert.equal(problems.length, 1000);
    assert.equal(problems[0]?.message, `Invalid value: "${'x'.repeat(4096)}...": why`);
  });

  it('shows maps and lists as messages always have', () => {
    assert.equal(shownMap({ b: '1', a: '"' }), String.raw`map[string]string{"a":"\"", "b":"1"}`);
    assert.equal(shownList(['a', 'b']), '[]string{"a", "b"}');
    assert.equal(shownMap(undefined), 'map[string]string{}');
  });
});

describe('selects()', () => {
  const labels = { app: 'web', tier: 'front' };
  const requirement = (operator: string, key: string, ...values: readonly string[]): boolean =>
    selects({ matchExpressions: [{ operator, key, values }] }, labels);

  it('holds labels against equalities and operators', () => {
    assert.ok(selects({ matchLabels: { app: 'web' } }, labels));
    assert.ok(!selects({ matchLabels: { app: 'db' } }, labels));
    assert.ok(requirement('In', 'app', 'db', 'web'));
    assert.ok(!requirement('NotIn', 'app', 'web'));
    assert.ok(requirement('NotIn', 'zone', 'a'));
    assert.ok(requirement('Exists', 'tier'));
    assert.ok(!requirement('DoesNotExist', 'tier'));
  });

  it('finds no labels in what objects inherit', () => {
    assert.ok(!requirement('Exists', 'constructor'));
    assert.ok(!selects({ matchLabels: { toString: 'x' } }, labels));
  });

  it('asks nothing when it is empty', () => {
    assert.ok(isEmptySelector({ matchLabels: {} }));
    assert.ok(selects({}, labels));
  });
});

describe('compareQuantities()', () => {
  it('compares amounts, whatever their family', () => {
    assert.equal(compareQuantities('1Ki', '1024'), 0);
    assert.ok(compareQuantities('1Gi', '1G') > 0);
    assert.ok(compareQuantities('-1', '1m') < 0);
  });
});

describe('rules for texts', () => {
  const RULES: readonly (readonly [
    name: string,
    rule: (t: string) => readonly string[],
    right: string,
    wrong: string,
  ])[] = [
    ['envVarName', text.envVarName, '_A.b-1', '1A'],
    ['envVarName', text.envVarName, '.a', '..a'],
    ['cIdentifier', text.cIdentifier, '_a1', 'a-1'],
    ['dataKey', text.dataKey, '.dockercfg', 'a b'],
    ['portName', text.portName, 'http-2', 'http_2'],
    ['percentage', text.percentage, '25%', '25'],
    ['wildcardSubdomain', text.wildcardSubdomain, '*.example.com', 'example.com'],
    ['httpHeaderName', text.httpHeaderName, 'X-A', 'X A'],
    ['ipAddress', text.ipAddress, 'fd00::1', 'fe80::1%eth0'],
    ['publicAddress', text.publicAddress, '8.8.8.8', '::1'],
    ['publicAddress', text.publicAddress, '2001:db8::1', '0:0:0:0:0:0:0:0'],
    ['publicAddress', text.publicAddress, 'fd00::1', 'FE80::1'],
    ['descendingPath', text.descendingPath, '/a/..b', '/a/../b'],
    ['localPath', text.localPath, 'a/b', '/a'],
    ['unreservedPath', text.unreservedPath, '.a', '..a'],
    ['absolutePath', text.absolutePath, '/a', 'a'],
    ['conditionReason', text.conditionReason, 'A_b,c:d', 'a-b'],
    ['httpPath', text.httpPath, 'a/b%20', 'a b'],
  ];
  for (const [name, rule, right, wrong] of RULES) {
    it(`${name} tells ${right} from ${wrong}`, () => {
      assert.deepEqual(rule(right), []);
      assert.equal(rule(wrong).length, 1);
    });
  }

  it('cidrVersion() tells families, and what is no range', () => {
    assert.deepEqual(
      ['10.0.0.0/8', 'fd00::/64', '10.0.0.0/33', '10.0.0.0', '10.0.0.0/08', 'a/1'].map(text.cidrVersion),
      [4, 6, 0, 0, 0, 0],
    );
  });

  it('takes time linear in the text', () => {
    const long = `${'a-'.repeat(200_000)}_`;
    const rules = [text.envVarName, text.dataKey, text.portName, text.wildcardSubdomain, text.publicAddress];
    assert.ok(processorMs(() => rules.forEach((rule) => rule(long))) < 3_000);
  });
});

describe('the client configuration of webhooks', () => {
  const kind = new KindUnderTest({
    group: 'admissionregistration.k8s.io',
    resource: 'validatingwebhookconfigurations',
    type: 'admissionregistration.k8s.io/v1.ValidatingWebhookConfiguration',
  });
  const webhook = { name: 'a.example.com', sideEffects: 'None', admissionReviewVersions: ['v1'] };
  const problemsOf = (config: object): readonly string[] => {
    const problems = kind.onCreate({ metadata: { name: 'x' }, webhooks: [{ ...webhook, clientConfig: config }] });
    return problems.map(({ field, message }) => `${field.replace('webhooks[0].', '')}: ${message}`);
  };
  const ONE = ['clientConfig: Required value: exactly one of url or service is required'];
  const service = { namespace: 'a', name: 'b', port: 443 };
  const FORM = '; desired format: https://host[/path]';

  it('asks for one way to the webhook', () => {
    assert.deepEqual(problemsOf({}), ONE);
    assert.deepEqual(problemsOf({ url: 'https://a', service }), ONE);
    assert.deepEqual(problemsOf({ service }), []);
    assert.deepEqual(problemsOf({ url: 'https://a.example.com:8443/hook' }), []);
  });

  const URLS: readonly (readonly [url: string, ...problems: string[]])[] = [
    ['http://a', `Invalid value: "http": 'https' is the only allowed URL scheme${FORM}`],
    [
      'a',
      `Invalid value: "": 'https' is the only allowed URL scheme${FORM}`,
      `Invalid value: "": host must be provided${FORM}`,
    ],
    ['https:///a', `Invalid value: "": host must be provided${FORM}`],
    ['https://u:p@a', 'Invalid value: "u:p": user information is not permitted in the URL'],
    ['https://a#f', 'Invalid value: "f": fragments are not permitted in the URL'],
    ['https://a?q=1', 'Invalid value: "q=1": query parameters are not permitted in the URL'],
    ['https://a:x', `Required value: url must be a valid URL: parse "https://a:x": invalid URL${FORM}`],
  ];
  for (const [url, ...problems] of URLS) {
    it(`says what is wrong with ${url}`, () => {
      assert.deepEqual(
        problemsOf({ url }),
        problems.map((problem) => `clientConfig.url: ${problem}`),
      );
    });
  }

  it('asks for a whole service', () => {
    assert.deepEqual(problemsOf({ service: { namespace: '', name: '', port: 0 } }), [
      'clientConfig.service.name: Required value: service name is required',
      'clientConfig.service.namespace: Required value: service namespace is required',
      'clientConfig.service.port: Invalid value: 0: port is not valid: must be between 1 and 65535, inclusive',
    ]);
  });

  it('takes paths of names', () => {
    const ofPath = (path: string): readonly string[] => problemsOf({ service: { ...service, path } });
    for (const path of ['', '/', '/a', '/a/b.c/']) assert.deepEqual(ofPath(path), []);
    assert.deepEqual(ofPath('//'), ['clientConfig.service.path: Invalid value: "//": segment[0] may not be empty']);
    assert.deepEqual(ofPath('/a//b'), [
      'clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
    ]);
    assert.deepEqual(ofPath('ab'), [`clientConfig.service.path: Invalid value: "ab": must start with a '/'`]);
    assert.match(
      ofPath('/A')[0] ?? '',
      /^clientConfig.service.path: Invalid value: "\/A": segment\[0\]: a lowercase RFC 1123/,
    );
  });
});
