import assert from 'node:assert/strict';
import { join } from 'node:path';
import { inParallel } from '../../services/machinery/loop/in-parallel.js';
import { startPlatform, stopped, type Running } from '../support/platform.js';
import { startProgram, type Program } from '../support/program.js';
import { SCENARIOS } from './scenarios/all.js';
import { openClients } from './scenarios/open-clients.js';
import { play, type Outcome } from './scenarios/scenario.js';

/** At once: so many that all are done soon, and a busy machine still gets them done. */
const PARALLEL = 8;
/** Nothing takes nearly as long, but a busy machine has its time. */
const PATIENCE_MS = 45_000;

describe('controllers bring to the state that is expected', function () {
  this.timeout(2 * PATIENCE_MS * Math.ceil(SCENARIOS.length / PARALLEL));
  let server: Running;
  let controllers: Program;
  let clients: ReturnType<typeof openClients>;
  const outcomes = new Map<string, Outcome>();

  before(async () => {
    server = await startPlatform({ vocabulary: 'kubernetes', accounts: true, controllers: false });
    const file = (name: string): string => join(server.dataDir, name);
    controllers = startProgram([
      'controller-manager',
      '--vocabulary=kubernetes',
      `--kubeconfig=${server.kubeconfig}`,
      '--use-service-account-credentials',
      '--leader-elect=false',
      '--bind-address=127.0.0.1',
      '--secure-port=0',
      '--controllers=*,tokencleaner,bootstrapsigner',
      `--root-ca-file=${file('ca.crt')}`,
      `--cluster-signing-cert-file=${file('ca.crt')}`,
      `--cluster-signing-key-file=${file('ca.key')}`,
      `--service-account-private-key-file=${file('service-account.key')}`,
    ]);
    clients = openClients(server.kubeconfig);
    await controllers.line(/^ready /, 60_000);
    await inParallel(SCENARIOS, PARALLEL, async (scenario) => {
      outcomes.set(scenario.name, await play(scenario, clients.open, PATIENCE_MS));
    });
  });
  after(async () => {
    clients.close();
    await stopped(controllers);
    await server.stop();
  });

  for (const { name, expected } of SCENARIOS) {
    it(name, () => assert.deepEqual(outcomes.get(name)?.state, expected));
  }

  it('is told once by each name', () => assert.equal(outcomes.size, SCENARIOS.length));
});
