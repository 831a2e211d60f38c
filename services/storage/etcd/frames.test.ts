import assert from 'node:assert/strict';

import { isStoreError } from '../store.js';
import { FrameReader, frame, statusOf } from './frames.js';

function messagesOf(chunks: readonly Buffer[]): string[] {
  const reader = new FrameReader();
  const messages: string[] = [];
  for (const chunk of chunks) {
    reader.push(chunk);
    for (let it = reader.next(); it !== undefined; it = reader.next()) messages.push(it.toString());
  }
  return messages;
}

const MESSAGES = ['', 'one', '', 'x'.repeat(300), 'last'];
const stream = Buffer.concat(MESSAGES.map((it) => frame(Buffer.from(it))));

describe('FrameReader', () => {
  for (const size of [1, 2, 3, 4, 5, 6, 7, 100, 305, stream.length]) {
    it(`puts messages together from chunks of ${size} bytes`, () => {
      const chunks: Buffer[] = [];
      for (let at = 0; at < stream.length; at += size) chunks.push(stream.subarray(at, at + size));
      assert.deepEqual(messagesOf(chunks), MESSAGES);
    });
  }

  it('keeps what was pushed before anything is taken', () => {
    const reader = new FrameReader();
    for (const byte of stream) reader.push(Buffer.from([byte]));
    const messages = MESSAGES.map(() => reader.next()?.toString());
    assert.deepEqual([messages, reader.next()], [MESSAGES, undefined]);
  });

  for (const [what, prefix] of [
    ['a compressed frame', [1, 0, 0, 0, 1, 0]],
    ['a frame of 4 GB', [0, 0xff, 0xff, 0xff, 0xff]],
  ] as const) {
    it(`refuses ${what}`, () => {
      assert.throws(
        () => messagesOf([Buffer.from(prefix)]),
        (err) => isStoreError(err, 'corrupt'),
      );
    });
  }
});

describe('statusOf()', () => {
  it('reads code and message', () => {
    const headers = { 'grpc-status': '11', 'grpc-message': 'etcdserver: 50%25 %C3%A9' };
    assert.deepEqual(statusOf(headers), { code: 11, message: 'etcdserver: 50% é' });
  });

  it('leaves a message that is not percent-encoded as it is', () => {
    assert.equal(statusOf({ 'grpc-status': '2', 'grpc-message': '100% wrong' })?.message, '100% wrong');
  });

  it('makes an error of a proxy that answers instead', () => {
    assert.equal(statusOf({ ':status': 503 })?.code, 14);
    assert.equal(statusOf({ ':status': 403 })?.code, 7);
  });

  it('has nothing to say yet at a plain beginning', () => {
    assert.equal(statusOf({ ':status': 200 }), undefined);
  });
});
