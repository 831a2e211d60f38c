import assert from 'node:assert/strict';
import fc from 'fast-check';
import { encodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import { encodeWatchFrame } from '../../machinery/codec/protobuf/watch-frame.js';
import { loadCatalog } from '../../machinery/types/catalog.js';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { codecFor } from './codec.js';
import { watchEvents, type SentEvent } from './watch-events.js';

const words = vocabulary('platform');
const { types } = loadCatalog(words);
const codec = codecFor(words, types);
const CONFIG_MAP = types.of('core/v1.ConfigMap');

interface Sent {
  readonly type: string;
  readonly name: string;
  readonly text: string;
}

const objectOf = ({ name, text }: Sent): { kind: string; apiVersion: string; metadata: object; data: object } => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name },
  data: { text },
});
const FORMS = new Map<string, (event: Sent) => Buffer>([
  ['application/json', (it) => Buffer.from(`${JSON.stringify({ type: it.type, object: objectOf(it) })}\n`)],
  [words.protobufMediaType, (it) => encodeWatchFrame(it.type, encodeEnvelope('v1', 'ConfigMap', encodeProtobuf(CONFIG_MAP, { metadata: { name: it.name }, data: { text: it.text } })))], // prettier-ignore
]);

/** The bytes cut at these places. */
async function* cutAt(bytes: Buffer, places: readonly number[]): AsyncGenerator<Buffer> {
  await Promise.resolve();
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  for (let i = 1; i < at.length; i++) yield bytes.subarray(at[i - 1], at[i]);
}

const read = async (pieces: AsyncIterable<Buffer>, form: string): Promise<SentEvent[]> => {
  const events: SentEvent[] = [];
  for await (const event of watchEvents(pieces, `${form};stream=watch`, codec)) events.push(event);
  return events;
};

describe('watchEvents()', () => {
  const event = fc.record({ type: fc.constantFrom('ADDED', 'MODIFIED', 'DELETED'), name: fc.string({ minLength: 1 }), text: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 2_000 }) }); // prettier-ignore

  for (const [form, encode] of FORMS) {
    it(`reads ${form} in any pieces`, async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(event, { maxLength: 8 }), fc.array(fc.nat(20_000)), async (sent, places) => {
          const bytes = Buffer.concat(sent.map(encode));
          const seen = await read(cutAt(bytes, places), form);
          const expected = sent.map((it) => [it.type, it.name, it.text]);
          const shown = seen.map(({ type, object }) => {
            const { metadata, data } = object as { metadata?: { name?: string }; data?: { text?: string } };
            return [type, metadata?.name, data?.text];
          });
          assert.deepEqual(shown, expected);
        }),
        { numRuns: 60 },
      );
    });
  }

  it('passes over empty lines and what was cut', async () => {
    const [one = Buffer.alloc(0)] = [FORMS.get('application/json')?.({ type: 'ADDED', name: 'a', text: 'b' })];
    const bytes = Buffer.concat([Buffer.from('\n'), one, Buffer.from('\n\n'), one.subarray(0, 20)]);
    assert.equal((await read(cutAt(bytes, []), 'application/json')).length, 1);
  });

  it('throws what an error says', async () => {
    const line = JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired', message: 'too old' } }); // prettier-ignore
    await assert.rejects(read(cutAt(Buffer.from(`${line}\n`), []), 'application/json'), { name: 'ApiError', code: 410, reason: 'Expired', message: 'too old' }); // prettier-ignore
  });

  it('holds no more than 32 MB of an event', async () => {
    async function* endless(first: Buffer): AsyncGenerator<Buffer> {
      await Promise.resolve();
      yield first;
      for (let i = 0; i < 40; i++) yield Buffer.alloc(1024 * 1024, 0x20);
      assert.fail('it reads on');
    }
    await assert.rejects(read(endless(Buffer.from('{')), 'application/json'), /longer than/);
    await assert.rejects(read(endless(Buffer.from([0x7f, 0, 0, 0])), words.protobufMediaType), /longer than/);
  });
});
