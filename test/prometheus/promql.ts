import { parser } from '@prometheus-io/lezer-promql';

/** What a PromQL expression says about one metric. */
export interface Selector {
  /** The name in the selector, such as `webhook_intake_wait_duration_seconds_bucket`. */
  readonly metric: string;
  /** The labels that its matchers name. */
  readonly labels: readonly string[];
  /** The function that is called with a range of it, such as `rate`; undefined without a range. */
  readonly rangeFunction: string | undefined;
}

/** An expression as the grammar of Prometheus reads it. */
export interface Expression {
  readonly selectors: readonly Selector[];
  /** The labels after `by`, `without`, `on` and `ignoring`. */
  readonly groupings: readonly string[];
  /** The text around each syntax error. */
  readonly errors: readonly string[];
}

type Node = ReturnType<typeof parser.parse>['topNode'];

export function parsePromql(text: string): Expression {
  const selectors: Selector[] = [];
  const groupings: string[] = [];
  const errors: string[] = [];
  const textOf = ({ from, to }: { readonly from: number; readonly to: number }): string =>
    text.slice(from, to);
  parser.parse(text).iterate({
    enter: ({ node }) => {
      if (node.type.isError) errors.push(text.slice(Math.max(0, node.from - 20), node.to + 20));
      if (node.name === 'GroupingLabels') groupings.push(...childrenOf(node, 'LabelName').map(textOf));
      if (node.name !== 'VectorSelector') return;
      const [name] = childrenOf(node, 'Identifier');
      const matchers = childrenOf(node, 'LabelMatchers').flatMap((all) =>
        childrenOf(all, 'UnquotedLabelMatcher'),
      );
      selectors.push({
        metric: name === undefined ? '' : textOf(name),
        labels: matchers.flatMap((matcher) => childrenOf(matcher, 'LabelName')).map(textOf),
        rangeFunction: rangeFunctionOf(node, textOf),
      });
    },
  });
  return { selectors, groupings, errors };
}

function childrenOf(node: Node, name: string): Node[] {
  const found: Node[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name === name) found.push(child);
  }
  return found;
}

function rangeFunctionOf(node: Node, textOf: (node: Node) => string): string | undefined {
  if (node.parent?.name !== 'MatrixSelector') return undefined;
  for (let above = node.parent.parent; above !== null; above = above.parent) {
    const [called] = childrenOf(above, 'FunctionIdentifier');
    if (called !== undefined) return textOf(called);
  }
  return undefined;
}
