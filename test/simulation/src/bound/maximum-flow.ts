/**
 * A network of pipes with capacities, and the most that can flow through it: Dinic's algorithm. Capacities are integers
 * or Infinity, so that no rounding keeps the algorithm from ending.
 */
export class Network {
  readonly #nodes: number;
  /** The edges in pairs: edge `e` and its reverse `e ^ 1`. */
  readonly #to: number[] = [];
  readonly #left: number[] = [];
  readonly #edgesOf: number[][];
  readonly #level: Int32Array;
  readonly #next: Int32Array;

  constructor(nodes: number) {
    this.#nodes = nodes;
    this.#edgesOf = Array.from({ length: nodes }, () => []);
    this.#level = new Int32Array(nodes);
    this.#next = new Int32Array(nodes);
  }

  connect(from: number, to: number, capacity: number): void {
    (this.#edgesOf[from] as number[]).push(this.#to.length);
    this.#to.push(to);
    this.#left.push(capacity);
    (this.#edgesOf[to] as number[]).push(this.#to.length);
    this.#to.push(from);
    this.#left.push(0);
  }

  /** The maximum flow. Uses the capacities up: call it once. */
  maximumFlow(source: number, sink: number): number {
    let flow = 0;
    while (this.#levels(source, sink)) {
      this.#next.fill(0);
      for (let pushed = this.#push(source, sink); pushed > 0; pushed = this.#push(source, sink))
        flow += pushed;
    }
    return flow;
  }

  /** Finds the distance of each node from the source. Returns whether the sink can be reached. */
  #levels(source: number, sink: number): boolean {
    const level = this.#level.fill(-1);
    const queue = new Int32Array(this.#nodes);
    let [head, tail] = [0, 1];
    queue[0] = source;
    level[source] = 0;
    while (head < tail) {
      const node = queue[head++] as number;
      for (const edge of this.#edgesOf[node] as number[]) {
        const to = this.#to[edge] as number;
        if (level[to] !== -1 || this.#left[edge] === 0) continue;
        level[to] = (level[node] as number) + 1;
        queue[tail++] = to;
      }
    }
    return level[sink] !== -1;
  }

  /** Sends as much as fits along one shortest path. Returns 0 if there is none left. */
  #push(source: number, sink: number): number {
    const path: number[] = [];
    let node = source;
    while (node !== sink) {
      const edge = this.#usable(node);
      if (edge !== undefined) {
        path.push(edge);
        node = this.#to[edge] as number;
        continue;
      }
      const last = path.pop();
      if (last === undefined) return 0;
      node = this.#to[last ^ 1] as number;
      this.#next[node] = (this.#next[node] as number) + 1;
    }
    const pushed = path.reduce((least, edge) => Math.min(least, this.#left[edge] as number), Infinity);
    for (const edge of path) {
      this.#left[edge] = (this.#left[edge] as number) - pushed;
      this.#left[edge ^ 1] = (this.#left[edge ^ 1] as number) + pushed;
    }
    return pushed;
  }

  /** The next edge of a node that leads closer to the sink and has capacity left. */
  #usable(node: number): number | undefined {
    const edges = this.#edgesOf[node] as number[];
    for (let index = this.#next[node] as number; index < edges.length; index += 1) {
      const edge = edges[index] as number;
      const isCloser = this.#level[this.#to[edge] as number] === (this.#level[node] as number) + 1;
      if (isCloser && (this.#left[edge] as number) > 0) {
        this.#next[node] = index;
        return edge;
      }
    }
    this.#next[node] = edges.length;
    return undefined;
  }
}
