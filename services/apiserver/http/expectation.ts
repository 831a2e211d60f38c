import { StatusError } from '../../machinery/meta/status.js';
import type { Stage } from '../request/request.js';

/** The one that there is (RFC 9110, 10.1.1); it is answered where connections are. */
const CONTINUE = /^100-continue$/i;

/** Refuses requests that expect of a server what none does. */
export const expectation: Stage = (ctx, next) => {
  const { expect } = ctx.req.headers;
  if (expect !== undefined && !CONTINUE.test(expect)) {
    throw new StatusError('BadRequest', 'The request expects what this server does not do', { code: 417 });
  }
  return next();
};
