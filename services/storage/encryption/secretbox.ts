import { randomBytes } from 'node:crypto';
import { secretbox as box } from '@noble/ciphers/salsa.js';
import { tooShort } from './aes.js';
import { UnreadableValue, type Cipher } from './transformer.js';

const NONCE = 24;
const TAG = 16;

/** XSalsa20 and Poly1305, as in NaCl: a random nonce of 24 bytes, a tag of 16 bytes, the value. @param secret 32 bytes. */
export const secretbox = (secret: Buffer): Cipher => ({
  seal: (_, plain) => {
    const nonce = randomBytes(NONCE);
    return Buffer.concat([nonce, box(secret, nonce).seal(plain)]);
  },
  open: (_, sealed) => {
    if (sealed.length < NONCE + TAG) throw tooShort();
    try {
      const { buffer, byteOffset, length } = box(secret, sealed.subarray(0, NONCE)).open(sealed.subarray(NONCE));
      return Buffer.from(buffer, byteOffset, length);
    } catch {
      throw new UnreadableValue('the value was not written with this key, or is damaged');
    }
  },
});
