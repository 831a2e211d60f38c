import type { AuditBackend } from './backend.js';

/** Gives events to several backends; a request that waits, waits for all of them. */
export const both = (backends: readonly AuditBackend[]): AuditBackend => ({
  emit: (event) => {
    const told = backends.map((backend) => backend.emit(event)).filter((it) => it !== undefined);
    return told.length < 2 ? told[0] : Promise.all(told).then((written) => written.every(Boolean));
  },
  close: async () => {
    await Promise.all(backends.map((backend) => backend.close()));
  },
});
