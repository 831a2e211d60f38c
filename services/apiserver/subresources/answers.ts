import { encodeProtobuf } from '../../machinery/codec/protobuf/encode.js';
import { encodeEnvelope } from '../../machinery/codec/protobuf/envelope.js';
import { apiVersionOf, type ApiObject, type JsonObject } from '../../machinery/meta/object.js';
import { typeKey } from '../../machinery/types/catalog.js';
import type { Catalog } from '../../machinery/types/declarations.js';
import { negotiateForm } from '../http/negotiation.js';
import { protobufStatus, respondJson } from '../http/respond.js';
import type { Context } from '../pipeline/request.js';
import type { Kind } from './bodies.js';

/** Answers with an object that is not stored, in the form that the client wants. */
export async function answerKind(
  { catalog }: { readonly catalog: Catalog },
  ctx: Context,
  gvk: Kind,
  object: ApiObject,
  code = 200,
): Promise<void> {
  const { group, version, kind } = gvk;
  const apiVersion = apiVersionOf(gvk);
  const { encoding, type } = negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true });
  const shown = { ...object, kind, apiVersion };
  const body =
    encoding === 'protobuf'
      ? encodeEnvelope(
          apiVersion,
          kind,
          encodeProtobuf(catalog.types, typeKey(group, version, kind), shown as unknown as JsonObject), // decoded JSON
        )
      : Buffer.from(JSON.stringify(shown));
  await respondJson(ctx, code, body, type);
}

/** Says that what was asked for is done. Every client reads it, whatever view of objects it accepts. */
export async function answerDone(ctx: Context, code: number): Promise<void> {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code };
  const { encoding, type } = negotiateForm(ctx.get('Accept'), { of: 'object', protobuf: true });
  const body = encoding === 'protobuf' ? protobufStatus(status) : Buffer.from(JSON.stringify(status));
  await respondJson(ctx, code, body, type);
}
