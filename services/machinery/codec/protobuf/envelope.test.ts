import assert from 'node:assert/strict';
import { StatusError } from '../../meta/status.js';
import { decodeEnvelope, encodeEnvelope } from './envelope.js';

const PREFIX = '6b387300';
const hex = (...parts: string[]): Buffer => Buffer.from(parts.join('').replaceAll(' ', ''), 'hex');
const text = (value: string): string => Buffer.from(value).toString('hex');

const refused = (bytes: Buffer, why: RegExp): void => {
  assert.throws(
    () => decodeEnvelope(bytes),
    (err: unknown) => err instanceof StatusError && err.code === 400 && why.test(err.message),
  );
};

describe('encodeEnvelope()', () => {
  it('writes the prefix, the type, the object and what is not said', () => {
    const wrapped = encodeEnvelope('v1', 'Pod', hex('aabb'));
    assert.deepEqual(wrapped, hex(PREFIX, '0a09 0a02', text('v1'), '1203', text('Pod'), '1202aabb', '1a00 2200'));
  });
});

describe('decodeEnvelope()', () => {
  it('gives back what was wrapped', () => {
    const { apiVersion, kind, raw } = decodeEnvelope(encodeEnvelope('apps/v1', 'Deployment', Buffer.from('object')));
    assert.deepEqual([apiVersion, kind, raw.toString()], ['apps/v1', 'Deployment', 'object']);
  });

  it('takes an envelope that says nothing', () => {
    assert.deepEqual(decodeEnvelope(hex(PREFIX)), { apiVersion: '', kind: '', raw: Buffer.alloc(0) });
  });

  it('takes the Protobuf media type by name', () => {
    const type = text('application/vnd.platform.protobuf');
    assert.deepEqual(decodeEnvelope(hex(PREFIX, '12 01 aa', '22 21', type)).raw, hex('aa'));
  });

  it('refuses another prefix, and less than a prefix', () => {
    refused(hex('6b387301', '1200'), /prefix/);
    refused(hex('6b38'), /prefix/);
    refused(Buffer.from('{"kind":"Pod"}'), /prefix/);
    refused(Buffer.alloc(0), /prefix/);
  });

  it('refuses an envelope that is cut off', () => {
    const wrapped = encodeEnvelope('v1', 'Pod', Buffer.from('some object'));
    refused(wrapped.subarray(0, 20), /unexpected end/);
  });

  it('refuses content with an encoding', () => {
    refused(hex(PREFIX, '1a04', text('gzip')), /encoding/);
  });

  it('refuses content of another type', () => {
    refused(hex(PREFIX, '2210', text('application/json')), /not Protobuf/);
  });
});
