import { rootCertificates } from 'node:tls';
import type { Credentials } from '../../client/credentials/credential.js';
import { machineAuthorities } from '../../client/kubeconfig/machine-authorities.js';
import { KeptSockets } from '../subresources/connect/kept-sockets.js';
import type { TargetTls } from '../subresources/connect/target.js';
import { digestOf } from '../webhook-reviews/digest.js';
import { leadsToSame, serviceKey, type Route, type Routes } from './routes.js';

/** How both sides of a connection prove who they are, and the free connections on which they did. */
export interface Proofs {
  readonly tls: TargetTls;
  readonly free: KeptSockets;
}

/** A pair of PEM; undefined: none is shown. */
interface Own {
  readonly cert: string | undefined;
  readonly key: string | undefined;
}

/**
 * The proofs of each route. Connections are shared only by what is the same in every part of them: service, authorities, name
 * and our own certificate. When one of these changes, those that are free are closed, and the others after their request.
 */
export class RouteProofs {
  readonly #certificate: Pick<Credentials, 'current'> | undefined;
  #own: Own = { cert: undefined, key: undefined };
  #isClosed = false;
  #ofRoute = new WeakMap<Route, Proofs>();
  /** By service, then by what is proved. */
  readonly #all = new Map<string, Map<string, Proofs>>();

  constructor(certificate: Pick<Credentials, 'current'> | undefined, routes: Pick<Routes, 'listen'>) {
    this.#certificate = certificate;
    routes.listen({
      changed: (_name, before, next) => {
        if (before !== undefined && (next === undefined || !leadsToSame(before, next))) this.#drop(serviceKey(before));
      },
    });
  }

  /** @throws What reading the certificate throws. */
  async of(route: Route, signal: AbortSignal): Promise<Proofs> {
    const { cert, key } = (await this.#certificate?.current(signal)) ?? {};
    if (cert !== this.#own.cert || key !== this.#own.key) {
      this.#dropAll();
      this.#own = { cert, key };
    }
    const known = this.#ofRoute.get(route);
    if (known !== undefined && !known.free.isClosed) return known;
    const proofs = this.#shared(serviceKey(route), tlsOf(route, this.#own));
    this.#ofRoute.set(route, proofs);
    return proofs;
  }

  /** From now on every connection is for one request. */
  close(): void {
    this.#isClosed = true;
    this.#dropAll();
  }

  #shared(service: string, tls: TargetTls): Proofs {
    const ofService = this.#all.get(service) ?? new Map<string, Proofs>();
    const id = digestOf([tls.serverName, tls.ca ?? null, tls.cert ?? null, tls.key ?? null]);
    const proofs = ofService.get(id) ?? { tls, free: new KeptSockets() };
    if (this.#isClosed) proofs.free.close();
    this.#all.set(service, ofService.set(id, proofs));
    return proofs;
  }

  #dropAll(): void {
    for (const service of this.#all.keys()) this.#drop(service);
    this.#ofRoute = new WeakMap();
  }

  #drop(service: string): void {
    for (const { free } of this.#all.get(service)?.values() ?? []) free.close();
    this.#all.delete(service);
  }
}

function tlsOf({ service: { namespace, name }, authorities, insecure }: Route, { cert, key }: Own): TargetTls {
  const own = cert === undefined || key === undefined ? {} : { cert, key };
  const serverName = `${name}.${namespace}.svc`;
  return insecure ? { ...own, serverName } : { ...own, serverName, ca: authorities === '' ? ofTheMachine() : authorities }; // prettier-ignore
}

/** Read once: a bundle of a machine changes with the machine. */
let machine: string | undefined;
const ofTheMachine = (): string => (machine ??= machineAuthorities() ?? rootCertificates.join('\n'));
