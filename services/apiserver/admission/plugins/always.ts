import type { AdmissionPlugin } from '../plugin.js';
import { refused } from '../refusal.js';

/** Says nothing against any request, as a server without it. */
export const alwaysAdmit = (): AdmissionPlugin => ({ operations: [] });

/** Refuses all that passes admission; for tests. */
export const alwaysDeny = (): AdmissionPlugin => ({
  operations: ['CREATE', 'UPDATE', 'DELETE', 'CONNECT'],
  validate: (request) => {
    throw refused(request, 'admission control is denying all modifications');
  },
});
