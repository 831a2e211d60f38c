import { CredentialError, type Credentials } from '../credentials/credential.js';

/**
 * Credentials that are given out only while `isHeld`. A client asks for them last of all before each try of a request: one
 * that waited for its turn, or whose process was stopped in the meantime, does not go out after leadership is over.
 */
export const guardedCredentials = (credentials: Credentials, isHeld: () => boolean): Credentials => ({
  async current(signal) {
    const credential = await credentials.current(signal);
    if (!isHeld()) throw new CredentialError('Leadership is over: nothing is asked for any more');
    return credential;
  },
  refused: (used) => credentials.refused(used),
  close: () => credentials.close(),
});
