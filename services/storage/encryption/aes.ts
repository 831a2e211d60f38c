import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { UnreadableValue, type Cipher } from './transformer.js';

const BLOCK = 16;
const NONCE = 12;
const TAG = 16;

/** AES in bytes a key: what all forms of it take. */
export const AES_KEY_SIZES: readonly number[] = [16, 24, 32];

/**
 * AES in CBC with the padding of PKCS #7: the random first block, then the value. Nothing authenticates it: a value that was
 * changed in the store may be read as another one.
 *
 * @param secret 16, 24 or 32 bytes.
 */
export function aesCbc(secret: Buffer): Cipher {
  const algorithm = `aes-${secret.length * 8}-cbc`;
  return {
    seal: (_, plain) => {
      const iv = randomBytes(BLOCK);
      const cipher = createCipheriv(algorithm, secret, iv);
      return Buffer.concat([iv, cipher.update(plain), cipher.final()]);
    },
    open: (_, sealed) => {
      if (sealed.length < 2 * BLOCK) throw tooShort();
      const decipher = createDecipheriv(algorithm, secret, sealed.subarray(0, BLOCK));
      return opened(() => Buffer.concat([decipher.update(sealed.subarray(BLOCK)), decipher.final()]));
    },
  };
}

/**
 * AES in GCM: a random nonce of 12 bytes, the value, a tag of 16 bytes, which the key of the store goes into.
 *
 * @param secret 16, 24 or 32 bytes.
 */
export const aesGcm = (secret: Buffer): Cipher => ({
  seal: (key, plain) => sealGcm(secret, key, plain),
  open: (key, sealed) => openGcm(secret, key, sealed),
});

const gcmOf = (secret: Buffer) => `aes-${secret.length * 8}-gcm` as 'aes-256-gcm';

/** @param key Authenticated along with the value. */
export function sealGcm(secret: Buffer, key: string, plain: Buffer): Buffer {
  const nonce = randomBytes(NONCE);
  const cipher = createCipheriv(gcmOf(secret), secret, nonce, { authTagLength: TAG });
  cipher.setAAD(Buffer.from(key));
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** @throws {UnreadableValue} */
export function openGcm(secret: Buffer, key: string, sealed: Buffer): Buffer {
  if (sealed.length < NONCE + TAG) throw tooShort();
  const end = sealed.length - TAG;
  return opened(() => {
    const decipher = createDecipheriv(gcmOf(secret), secret, sealed.subarray(0, NONCE), { authTagLength: TAG });
    decipher.setAAD(Buffer.from(key));
    decipher.setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE, end)), decipher.final()]);
  });
}

/** The library says in words of its own what is wrong, and may say it of the value. */
function opened(decrypt: () => Buffer): Buffer {
  try {
    return decrypt();
  } catch {
    throw new UnreadableValue('the value was not written with this key for this place, or is damaged');
  }
}

export const tooShort = (): UnreadableValue =>
  new UnreadableValue('the stored data was shorter than the required size');
