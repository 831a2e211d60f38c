import assert from 'node:assert/strict';
import { CredentialError, type Credential } from '../credentials/credential.js';
import { guardedCredentials } from './guarded-credentials.js';

describe('guardedCredentials()', () => {
  const never = new AbortController().signal;
  const CREDENTIAL: Credential = { headers: { authorization: 'Bearer x' }, certificateVersion: 0 };

  it('gives them out only while leadership holds, also when it ends while they are fetched', async () => {
    let isHeld = true;
    let give: (credential: Credential) => void = () => undefined;
    const slow = new Promise<Credential>((resolve) => (give = resolve));
    let current = Promise.resolve(CREDENTIAL);
    const inner = { current: () => current, refused: () => true, close: () => undefined };
    const guarded = guardedCredentials(inner, () => isHeld);
    assert.equal(await guarded.current(never), CREDENTIAL);
    assert.equal(guarded.refused(CREDENTIAL), true);
    current = slow;
    const fetching = guarded.current(never);
    isHeld = false;
    give(CREDENTIAL);
    await assert.rejects(fetching, CredentialError);
  });
});
