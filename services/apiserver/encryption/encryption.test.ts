import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UNOBSERVED } from '../../machinery/breaker/breaker.js';
import { createLog } from '../../machinery/log/log.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { CountedEncryption } from '../metrics/encryption-metrics.js';
import { openEncryption, type Encryption } from './encryption.js';

const PREFIX = '/registry/';
const plain = Buffer.from('plain');
const key = (name: string): object => ({ name, secret: randomBytes(32).toString('base64') });

describe('openEncryption()', () => {
  let directory: string;
  let file: string;
  let outcomes: boolean[];
  let encryption: Encryption;
  let wake: () => void;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'encryption-'));
    file = join(directory, 'c.json');
    outcomes = [];
  });
  afterEach(() => {
    encryption.close();
    rmSync(directory, { recursive: true });
  });

  const write = (...rules: readonly (readonly [resources: readonly string[], providers: readonly object[]])[]): void =>
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: 'apiserver.config.k8s.io/v1',
        kind: 'EncryptionConfiguration',
        resources: rules.map(([resources, providers]) => ({ resources, providers })),
      }),
    );
  const open = async (o: { readonly from?: string; readonly reload?: boolean } = {}): Promise<void> => {
    const metrics = new CountedEncryption(() => UNOBSERVED);
    metrics.reloaded = (ok) => {
      outcomes.push(ok);
      wake();
    };
    encryption = await openEncryption(
      { encryptionProviderConfig: o.from ?? file, encryptionProviderConfigReload: o.reload === true },
      {
        vocabulary: vocabulary('kubernetes'),
        prefix: PREFIX,
        log: createLog({}, { write: () => undefined }),
        metrics,
        reloadEveryMs: 5,
      },
    );
  };
  const stored = async (at: string): Promise<string> =>
    String(await encryption.transformerOf(`${PREFIX}${at}`)?.toStore(`${PREFIX}${at}`, plain)).slice(0, 24);
  const reloads = (count: number): Promise<void> =>
    new Promise((resolve) => {
      wake = () => {
        if (outcomes.length >= count) resolve();
      };
      wake();
    });

  it('leaves all as it is without a file, and reads nothing that is encrypted', async () => {
    await open({ from: '' });
    assert.ok(!encryption.isConfigured && encryption.well());
    const transformer = encryption.transformerOf(`${PREFIX}core/secrets/a/b`);
    assert.ok(transformer !== undefined && transformer.asIs(plain));
    assert.ok(!transformer.asIs(Buffer.from('k8s:enc:aescbc:v1:a:')));
    assert.throws(() => transformer.fromStore('', Buffer.from('k8s:enc:aescbc:v1:a:')), /no provider is given/);
  });

  it('chooses by the first rule that names the resource; what is no object is left as it is', async () => {
    const gcm = (name: string): object => ({ aesgcm: { keys: [key(name)] } });
    write([['secrets', 'events'], [gcm('a')]], [['*.apps'], [gcm('b')]], [['*.'], [gcm('c')]]);
    await open();
    const prefixes = {
      'core/secrets/ns/x': 'k8s:enc:aesgcm:v1:a:',
      'events.k8s.io/events/ns/x': 'k8s:enc:aesgcm:v1:a:',
      'apps/deployments/ns/x': 'k8s:enc:aesgcm:v1:b:',
      'core/nodes/x': 'k8s:enc:aesgcm:v1:c:',
      'batch/jobs/ns/x': 'plain',
    };
    for (const [at, prefix] of Object.entries(prefixes)) assert.ok((await stored(at)).startsWith(prefix), at);
    for (const at of ['-/vocabulary', '-/claims/core/services/x', 'core/secrets', 'x']) {
      assert.equal(encryption.transformerOf(`${PREFIX}${at}`), undefined, at);
    }
    assert.equal(encryption.transformerOf('/other/core/secrets/ns/x'), undefined);
  });

  it('takes a changed file, keeps what it has when that cannot be used, and takes the next one', async () => {
    const [one, two] = [key('one'), key('two')];
    write([['secrets'], [{ secretbox: { keys: [one] } }]]);
    await open({ reload: true });
    const at = `${PREFIX}core/secrets/a/b`;
    const first = encryption.transformerOf(at);
    const bytes = (await first?.toStore(at, plain)) as Buffer;
    writeFileSync(file, '{}');
    await reloads(1);
    assert.equal(encryption.transformerOf(at), first);
    write([['secrets'], [{ secretbox: { keys: [two, one] } }]]);
    await reloads(2);
    assert.ok((await stored('core/secrets/a/b')).startsWith('k8s:enc:secretbox:v1:two'));
    assert.deepEqual(encryption.transformerOf(at)?.fromStore(at, bytes), { value: plain, stale: true });
    assert.deepEqual(outcomes, [false, true]);
  });

  it('does not go over to a key management service that is not there', async () => {
    write([['secrets'], [{ identity: {} }]]);
    await open({ reload: true });
    const endpoint = `unix://${join(directory, 'none.sock')}`;
    write([['secrets'], [{ kms: { apiVersion: 'v2', name: 'a', endpoint, timeout: '200ms' } }]]);
    await reloads(2);
    assert.deepEqual(outcomes.slice(0, 2), [false, false]);
    assert.equal(await stored('core/secrets/a/b'), 'plain');
    assert.ok(encryption.well());
  });
});
