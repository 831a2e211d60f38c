import { apiVersionOf, type ApiObject } from '../../machinery/meta/object.js';
import { negotiate } from '../http/negotiation.js';
import { respondJson } from '../http/respond.js';
import type { Context } from '../pipeline/request.js';
import type { Kind } from './bodies.js';

/** Answers with an object that is not stored. */
export async function answerKind(
  ctx: Context,
  { group, version, kind }: Kind,
  object: ApiObject,
  code = 200,
): Promise<void> {
  const shown = { ...object, kind, apiVersion: apiVersionOf({ group, version }) };
  await respondJson(ctx, code, Buffer.from(JSON.stringify(shown)), negotiate(ctx.get('Accept')));
}

/** Says that what was asked for is done. Every client reads it, whatever it accepts of objects. */
export async function answerDone(ctx: Context, code: number): Promise<void> {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
  await respondJson(ctx, code, Buffer.from(JSON.stringify(status)), negotiate(ctx.get('Accept')));
}
