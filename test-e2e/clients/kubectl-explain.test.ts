import assert from 'node:assert/strict';
import { Kubectl, withKubectl } from './kubectl.js';

/** The newer form, in which kubectl asks for a document of one group version; the older one reads that of everything. */
const knowsVersion3 = (): boolean => Number(/^v1\.(\d+)/.exec(Kubectl.version() ?? '')?.[1] ?? 0) >= 27;
const forms = (): readonly (readonly string[])[] => (knowsVersion3() ? [[], ['--output=plaintext-openapiv2']] : [[]]);

interface Kind {
  readonly resource: string;
  readonly apiVersion: string;
  readonly kind: string;
}

/** Lines of `NAME SHORTNAMES APIVERSION NAMESPACED KIND`, of which only SHORTNAMES may be missing. */
function kindsOf(table: string): Kind[] {
  return table
    .trim()
    .split('\n')
    .map((line) => {
      const cells = line.split(/ +/);
      const [apiVersion = '', , kind = ''] = cells.slice(-3);
      return { resource: cells[0] ?? '', apiVersion, kind };
    });
}

/** Versions that are not preferred, so that a list of resources does not show them. */
const OLDER: readonly (readonly [resource: string, apiVersion: string])[] = [
  ['horizontalpodautoscalers', 'autoscaling/v1'],
  ['horizontalpodautoscalers', 'autoscaling/v2beta2'],
  ['cronjobs', 'batch/v1beta1'],
  ['poddisruptionbudgets', 'policy/v1beta1'],
];

/** What people look up, and what they should find in it. */
const NESTED: readonly (readonly [path: string, found: RegExp])[] = [
  ['pod.spec.containers.livenessProbe.httpGet', /Send an HTTP GET/],
  ['pod.spec.affinity.podAntiAffinity', /should not be near/],
  ['pod.metadata.ownerReferences', /garbage collector/],
  ['deployment.spec.strategy.rollingUpdate', /rounded down/],
  ['statefulset.spec.volumeClaimTemplates.spec.resources', /How large it must be/],
  ['job.spec.backoffLimit', /Absent is 6/],
  ['ingress.spec.rules.http.paths.backend.service.port', /Its number/],
  ['networkpolicy.spec.ingress.from', /The other side/],
  ['role.rules', /What may be done/],
  ['customresourcedefinition.spec.versions.schema.openAPIV3Schema', /JSON Schema/],
  ['node.status.nodeInfo', /versions of programs/],
];

/** The paragraphs below DESCRIPTION, up to the next heading. */
function descriptionIn(text: string): string {
  const [, rest = ''] = text.split(/^DESCRIPTION:$/m);
  return rest.split(/^FIELDS?:$/m, 1)[0]?.trim() ?? '';
}

for (const name of ['kubernetes', 'platform'] as const) {
  withKubectl('explains', { vocabulary: name, store: 'embedded' }, (client) => {
    const explained = async (args: readonly string[]): Promise<string> => {
      const text = await client().ok(['explain', ...args]);
      const description = descriptionIn(text);
      assert.notEqual(description, '', args.join(' '));
      assert.doesNotMatch(text, /<empty>|<no description>/, args.join(' '));
      return text;
    };

    it('every kind that there is, and every field of its first level', async () => {
      const kinds = kindsOf(await client().ok(['api-resources', '--no-headers']));
      assert.ok(kinds.length > 50);
      for (const { resource, apiVersion, kind } of kinds) {
        for (const form of forms()) {
          const text = await explained([resource, `--api-version=${apiVersion}`, ...form]);
          assert.match(text, new RegExp(`^KIND: +${kind}$`, 'm'));
          assert.match(text, /^ *apiVersion\t<string>\s+The group and version of the schema/m, resource);
        }
      }
    }).timeout(120_000);

    it('versions beside the preferred one', async () => {
      for (const [resource, apiVersion] of OLDER)
        for (const form of forms()) await explained([resource, `--api-version=${apiVersion}`, ...form]);
    });

    for (const [path, found] of NESTED) {
      it(path, async () => {
        for (const form of forms()) assert.match((await explained([path, ...form])).replace(/\s+/g, ' '), found);
      });
    }

    it('the whole tree of a kind, and no field that there is not', async () => {
      const tree = await client().ok(['explain', 'pods', '--recursive']);
      assert.match(tree, /^ *secretKeyRef\t<(Object|SecretKeySelector)>$/m);
      const { code, stderr } = await client().run(['explain', 'pod.spec.nothing']);
      assert.equal(code, 1);
      assert.match(stderr, /field "nothing" does not exist/);
    });

    it('what is wrong with an object that it applies', async () => {
      const pod = (spec: string): string =>
        `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"wrong","namespace":"default"},"spec":${spec}}`;
      const apply = async (spec: string): Promise<string> => {
        const { code, stderr } = await client().run(['apply', '--validate=true', '-f', '-'], pod(spec));
        assert.equal(code, 1);
        return stderr;
      };
      assert.match(
        await apply('{"containers":[{"name":"c","image":"i","livenesProbe":{}}]}'),
        /unknown field .*livenesProbe/,
      );
      assert.match(await apply('{"containers":[{"name":1,"image":"i"}]}'), /name/);
      assert.match(
        await client().ok(['apply', '--validate=true', '-f', '-'], pod('{"containers":[{"name":"c","image":"i"}]}')),
        /created/,
      );
    });
  });
}
