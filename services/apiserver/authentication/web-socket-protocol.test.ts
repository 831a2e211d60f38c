import assert from 'node:assert/strict';
import { bearer, TokenReviewer } from './token-reviewer.js';
import { startScene, type Reply, type Scene } from './testing/scene.js';
import type { TokenAuthenticator } from './authenticator.js';
import { webSocketProtocol } from './web-socket-protocol.js';

const PREFIX = 'base64url.bearer.authorization.platform.io.';
const encoded = (token: string | Buffer): string => `${PREFIX}${Buffer.from(token).toString('base64url')}`;

const known: TokenAuthenticator = {
  name: 'known',
  authenticateToken: (token) =>
    ['good', 'gööd~', 'other'].includes(token) ? { user: { name: token, uid: '', groups: [], extra: {} } } : undefined,
};

describe('webSocketProtocol()', () => {
  let scene: Scene;
  before(async () => {
    const tokens = new TokenReviewer([known], ['us']);
    scene = await startScene({ authenticators: [bearer(tokens), webSocketProtocol(tokens, PREFIX)] });
  });
  after(() => scene.close());

  const SOCKET = [['Connection', 'Upgrade'], ['Upgrade', 'WebSocket']] as const; // prettier-ignore
  const ask = (...protocols: readonly string[]): Promise<Reply> =>
    scene.ask({ headers: [...SOCKET, ...protocols.map((value) => ['Sec-WebSocket-Protocol', value] as const)] });

  const refused: readonly (readonly [what: string, ...protocols: string[]])[] = [
    ['a token that nobody knows', `${encoded('bad')}, chat`],
    ['a token without another protocol', encoded('good')],
    ['a token with another one that is empty', `${encoded('good')}, `],
    ['two tokens', `${encoded('good')}, chat, ${encoded('good')}`],
    ['two tokens in two headers', `${encoded('good')}, chat`, encoded('other')],
    ['two tokens of which one is empty', `${encoded('good')}, chat, ${PREFIX}`],
    ['an empty token', `${PREFIX}, chat`],
    ['a token with padding', `${PREFIX}Z29vZA==, chat`],
    ['a token in the other alphabet', `${PREFIX}Z8O2w7Zkfg+/, chat`],
    ['a token with junk in it', `${PREFIX}Z29v.ZA, chat`],
    ['a token that ends early', `${PREFIX}Z29vZ, chat`],
    ['a token that is no UTF-8', `${encoded(Buffer.from([0x67, 0xff]))}, chat`],
    ['a token behind a byte order mark', `${encoded('\ufeffgood')}, chat`],
  ];
  for (const [what, ...protocols] of refused) {
    it(`refuses ${what}`, async () => {
      const { code, body } = await ask(...protocols);
      assert.deepEqual([code, body.message], [401, 'Unauthorized']);
    });
  }

  it('does not look at requests that ask for no web socket', async () => {
    const protocol = ['Sec-WebSocket-Protocol', `${encoded('good')}, chat`] as const;
    for (const headers of [[protocol], [['Connection', 'Upgrade'], ['Upgrade', 'h2c'], protocol]] as const) {
      // prettier-ignore
      assert.equal((await scene.ask({ headers })).body.user?.name, 'system:anonymous');
    }
  });

  it('takes a socket without a token for nobody’s', async () => {
    const { body } = await ask('chat');
    assert.deepEqual([body.user?.name, body.headers?.['sec-websocket-protocol']], ['system:anonymous', 'chat']);
  });

  for (const [token, ...protocols] of [
    ['good', `${encoded('good')}, v5.chat, v4.chat`],
    ['good', `v5.chat,${encoded('good')},v4.chat`],
    ['gööd~', 'v5.chat', encoded('gööd~'), 'v4.chat'],
  ] as const) {
    it(`knows whose token is in ${protocols.join(' / ')}, and takes it off the request`, async () => {
      const { body } = await ask(...protocols);
      assert.equal(body.user?.name, token);
      assert.equal(body.headers?.['sec-websocket-protocol'], 'v5.chat, v4.chat');
    });
  }

  it('leaves it to the header that is meant for tokens where there is one', async () => {
    const protocol = ['Sec-WebSocket-Protocol', `${encoded('good')}, chat`] as const;
    const { body } = await scene.ask({ headers: [...SOCKET, protocol, ['Authorization', 'Bearer other']] });
    assert.equal(body.user?.name, 'other');
  });
});
