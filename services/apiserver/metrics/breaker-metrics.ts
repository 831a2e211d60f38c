import type { BreakerObserver, BreakerState } from '../../machinery/breaker/breaker.js';
import type { MetricsArea, Prom, Registry } from './area.js';

/** Makes known how the breaker before a peer stands. Breakers of one name are shown as the worst of them. */
export type ObserveBreaker = (name: string) => BreakerObserver;

/** From the best to the worst. */
const STATES: readonly BreakerState[] = ['closed', 'half_open', 'open'];
/** Names that are shown; configurations bring some of them. Later ones are not. */
const MAX_NAMES = 1000;

/** How every breaker of the server stands. */
export class CountedBreakers implements MetricsArea {
  readonly #byName = new Map<string, Map<object, BreakerState>>();

  readonly observe: ObserveBreaker = (name) => {
    const self = {};
    return {
      changed: (state) => this.#of(name)?.set(self, state),
      gone: () => {
        const states = this.#byName.get(name);
        states?.delete(self);
        if (states?.size === 0) this.#byName.delete(name);
      },
    };
  };

  register(prom: Prom, registry: Registry): void {
    const byName = this.#byName;
    new prom.Gauge({
      name: 'apiserver_breaker_state',
      help: 'How the breaker before a peer stands: 1 for the state that it has; an open one is not asked for a while',
      labelNames: ['name', 'state'],
      registers: [registry],
      collect() {
        this.reset();
        for (const [name, states] of byName) {
          const worst = Math.max(...[...states.values()].map((state) => STATES.indexOf(state)));
          for (const [i, state] of STATES.entries()) this.set({ name, state }, i === worst ? 1 : 0);
        }
      },
    });
  }

  #of(name: string): Map<object, BreakerState> | undefined {
    const known = this.#byName.get(name);
    if (known !== undefined || this.#byName.size >= MAX_NAMES) return known;
    const made = new Map<object, BreakerState>();
    this.#byName.set(name, made);
    return made;
  }
}
