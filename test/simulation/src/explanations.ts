/** Why figures are missed: what was tried, and what is physically possible. */
export interface Explanation {
  /** The figures, by the name of their row or probe. */
  readonly of: Readonly<Record<string, readonly string[]>>;
  readonly text: readonly string[];
}

const TWO_SIDED = ['attempts of one event, at most', 'gate toggles', 'goodput'];
const LARGEST_ERROR = 'largest error from then on, for 10 s';
const HINDSIGHT = 'likewise, against what completed in the 2 s before each reading';
const SHARE_NEAR = 'part of that time within 20 %';

export const EXPLANATIONS: readonly Explanation[] = [
  {
    of: { 'b-500': TWO_SIDED, 'b-1000': TWO_SIDED },
    text: [
      'The returns have to be booked during the burst, minutes ahead, at the rate that fresh deliveries leave: 100/s less',
      '60/s. What is known of both then is one minute of chance: 3,600 exponential service times tell the drain rate within',
      '1.7 %, and as many arrivals the fresh rate within 1/s, one standard deviation each. A rate booked some 1/s too high',
      'makes returns collide, which shows as toggles and attempts; one 3/s too low leaves workers idle, which shows as',
      'goodput. Tried, at seeds 1 to 40: to book less by 1, 1½ and 2 standard deviations of the fresh rate. 9, 10 and 14',
      'seeds miss a bound at 500/s, and 17, 18 and 16 at 1,000/s: the misses move from one side to the other. An intake',
      'that was told the true rates and booked 39.5/s missed 1 and 2 of the 40 seeds, and at 40/s 4 and 8, as even the truth',
      'is an average from which the minutes to come differ. So what is missed is missing knowledge, and a minute of random',
      'traffic does not hold more of it.',
    ],
  },
  {
    of: { 'slow-100': ['peak of returns (per s)'] },
    text: [
      'Nothing has completed yet, and so there is no pace: the 3,000 of the first three seconds are told 3 to 7 s, which is',
      '750/s by itself. Longer times would be told to everybody who is refused in the first moments of a process.',
    ],
  },
  {
    of: {
      'drain-rate-idle-exponential': ['error 2 s after saturation began', LARGEST_ERROR, HINDSIGHT],
      'drain-rate-light-exponential': ['error 2 s after saturation began', LARGEST_ERROR, HINDSIGHT],
    },
    text: [
      'Two seconds of exponential service are 200 completions, and their number varies by 7 %; so the largest of a hundred',
      'readings is some 20 % off, by chance alone. At the worst seed the workers really did 132/s for two seconds. Against',
      'what they did, the estimate stays within 14 %. Tried: fading over 1.2, 1.5 and 2.4 s in place of',
      '1.8 s; a longer memory makes these errors smaller, 0.29 at the worst, and those after a change larger.',
    ],
  },
  {
    of: { 'drain-rate-doubled-exponential': ['error 3 s later', LARGEST_ERROR, HINDSIGHT] },
    text: [
      'Three seconds after the change there are 150 completions of the new kind, which tell its rate within 8 %, one standard',
      'deviation; and of what was before the change a share of e^(−3 ÷ 1.8) = 19 % is still remembered, which alone is the',
      '17 % that constant service times show. Both together exceed 20 % at the worst seeds. Tried: fading over 1.2 to 2.4 s;',
      '1.2 s still misses (0.31) and makes the chance errors above larger (0.39), 2.4 s misses by more (0.38).',
    ],
  },
  {
    of: {
      'concurrency-5-exponential': [SHARE_NEAR],
      'concurrency-100-exponential': [SHARE_NEAR],
    },
    text: [
      'The mean limit is within 20 % of the knee at every seed; the limit itself leaves that band for a few per cent of the',
      'time. With exponential service the 90th percentile of a window of 250 times is off by 8 %, and the queue inside the',
      'downstream that tells too much from enough is 10 % of the limit. Windows stay open for up to 10 s to be more precise;',
      'longer ones would not follow a knee that halves within 30 s.',
    ],
  },
];
