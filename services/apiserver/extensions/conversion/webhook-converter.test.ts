import assert from 'node:assert/strict';
import { TestAuthority } from '../../../client/testing/certificates.js';
import { answerJson, startTlsService, type TlsService } from '../../../client/testing/tls-service.js';
import { UNOBSERVED } from '../../../machinery/breaker/breaker.js';
import { freePorts } from '../../../machinery/testing/free-port.js';
import { vocabulary } from '../../../machinery/vocabulary/vocabulary.js';
import { ANONYMOUS } from '../../admission/webhooks/credentials.js';
import { Pools } from '../../admission/webhooks/pools.js';
import type { ConversionCall } from '../../metrics/conversion-metrics.js';
import { stateConvertible } from '../../registry/conversion/converter.js';
import { WebhookConverter } from './webhook-converter.js';

const object = { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name: 'a' } };
const GVK = 'example.com/v1, Kind=Widget';

describe('WebhookConverter', () => {
  const authority = new TestAuthority('converters');
  const pools = new Pools();
  const calls: ConversionCall[] = [];
  let service: TlsService;

  before(async () => {
    service = await startTlsService(authority.issue('converter', 'DNS:localhost'), () => undefined);
  });
  after(async () => {
    pools.close();
    await service.close();
    authority.remove();
  });
  beforeEach(() => void calls.splice(0));

  const caBundle = Buffer.from(authority.cert).toString('base64');
  const converterOf = (clientConfig: object, conversionReviewVersions = ['v1']): WebhookConverter =>
    new WebhookConverter('widgets.example.com', { webhook: { clientConfig, conversionReviewVersions } }, {
      vocabulary: vocabulary('kubernetes'),
      objects: { cached: () => undefined },
      users: ANONYMOUS,
      pools,
      userAgent: 'test',
      log: { warn: () => undefined },
      metrics: { called: (call) => void calls.push(call), breaker: () => UNOBSERVED },
      timeoutSeconds: 1,
    }); // prettier-ignore
  const asked = async (converter: WebhookConverter): Promise<unknown> =>
    converter.convert([stateConvertible(object)], 'example.com/v2');

  it('asks in the words of its vocabulary, and counts', async () => {
    service.answer = ({ body }, res) => {
      const { apiVersion, request } = JSON.parse(body) as { apiVersion: string; request: { uid: string } };
      assert.equal(apiVersion, 'apiextensions.k8s.io/v1');
      const convertedObjects = [{ ...object, apiVersion: 'example.com/v2' }];
      const response = { uid: request.uid, result: { status: 'Success' }, convertedObjects };
      answerJson(res, { apiVersion, kind: 'ConversionReview', response });
    };
    const converter = converterOf({ url: `${service.url}/c`, caBundle });
    assert.deepEqual(await asked(converter), [{ ...object, apiVersion: 'example.com/v2' }]);
    const [{ seconds, ...call } = assert.fail()] = calls;
    assert.ok(seconds > 0);
    assert.deepEqual(call, { definition: 'widgets.example.com', from: 'v1', to: 'v2', failure: '' });
    assert.deepEqual(await converter.convert([], 'example.com/v2'), []);
  });

  it('says why there is no answer', async () => {
    const [closed = 0] = await freePorts(1);
    service.answer = () => undefined;
    const url = `${service.url}/c`;
    const TABLE: readonly (readonly [WebhookConverter, RegExp])[] = [
      [converterOf({ url, caBundle }), /^failed: Post "https:\/\/localhost:\d+\/c\?timeout=1s": context deadline exceeded$/], // prettier-ignore
      [converterOf({ url: `https://localhost:${closed}/c`, caBundle }), /^failed: Post ".*": nobody listens there/],
      [converterOf({ url }), /^failed: Post ".*": .*signed by no authority that is trusted/],
      [converterOf({ url, caBundle: Buffer.from(' \n').toString('base64') }), /signed by no authority that is trusted/],
      [
        converterOf({ url, caBundle: 'eA==' }),
        /^failed: could not get REST client: unable to load root certificates: /,
      ],
      [converterOf({ service: { namespace: 'n', name: 's' }, caBundle }), /^failed: Post "https:\/\/s.n.svc:443\/\?timeout=1s": service "s" not found$/], // prettier-ignore
      [converterOf({ url, caBundle }, ['v9']), /^failed: no supported conversion review versions$/],
    ];
    for (const [converter, why] of TABLE) {
      await assert.rejects(asked(converter), (err: Error & { reason: string; code: number }) => {
        assert.deepEqual([err.reason, err.code], ['InternalError', 500]);
        const begin = `conversion webhook for ${GVK} `;
        assert.equal(err.message.slice(0, begin.length), begin);
        assert.match(err.message.slice(begin.length), why);
        return true;
      });
    }
    assert.deepEqual(new Set(calls.map(({ failure }) => failure)), new Set(['conversion_webhook_call_failure']));
  });
});
