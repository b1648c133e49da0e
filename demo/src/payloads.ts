import type { Outgoing } from './post.ts';

type Json = Record<string, unknown>;

/** The events that a shop fires when somebody imports customers and orders: the same ones at every call. */
export function bulkImport(count: number): Outgoing[] {
  const pick = new Picker(20_260_401);
  return Array.from({ length: count }, (_, index) => {
    const [type, data] = pick.one(EVENTS);
    const event = { type, timestamp: pick.time(), data: data(pick) };
    return { id: `msg_${pick.id()}${String(index)}`, body: JSON.stringify(event) };
  });
}

// Orders are most of an import, so they stand here more than once.
const EVENTS: readonly (readonly [type: string, data: (pick: Picker) => Json])[] = [
  ['order.created', order],
  ['order.created', order],
  ['order.paid', paidOrder],
  ['order.fulfilled', fulfilledOrder],
  ['customer.created', customer],
  ['customer.updated', customer],
  ['inventory.adjusted', adjustment],
];

const FIRST_NAMES = ['Amélie', 'Björn', 'Chidi', 'Dana', 'Elif', 'Giulia', 'Haruto', 'María', 'Noah', 'Zoë'];
const LAST_NAMES = [
  'Andersson',
  'Costa',
  'Dvořák',
  'Kowalska',
  'Müller',
  "O'Neill",
  'Okafor',
  '佐藤',
  'Yılmaz',
];
const CITIES = [
  ['Göteborg', 'SE'],
  ['Porto', 'PT'],
  ['Kraków', 'PL'],
  ['Nagoya', 'JP'],
  ['Leeds', 'GB'],
  ['İzmir', 'TR'],
] as const;
const STREETS = ['Harbour Road', 'Rua do Almada', 'ul. Długa', 'Storgatan', 'Mill Lane', 'Sakae 3-chōme'];
const PRODUCTS = [
  ['Espresso cups, set of 4', 'CUP-ESP-4', 3_400],
  ['Linen apron', 'APR-LIN-M', 4_250],
  ['Burr grinder, 58 mm', 'GRN-B58', 18_900],
  ['Filter papers, 200', 'FLT-V60-200', 890],
  ['Single-origin beans, 1 kg', 'BNS-ETH-1K', 2_990],
  ['Milk jug, 600 ml', 'JUG-600', 2_150],
] as const;
const CARRIERS = ['DHL', 'InPost', 'PostNord', 'Yamato'];
const NOTES = [
  'Please leave it with the neighbours at no. 12 if nobody answers: the bell is broken.',
  'Gift. No invoice in the parcel, please, and the card should read “Happy birthday, Zoë! 🎉”.',
  'Delivery only after 17:00, the entrance is in the courtyard on the left.',
];

function address(pick: Picker): Json {
  const [city, country] = pick.one(CITIES);
  const line1 = `${pick.one(STREETS)} ${String(pick.between(1, 180))}`;
  return { line1, line2: null, city, postal_code: String(pick.between(10_000, 99_999)), country };
}

function customer(pick: Picker): Json {
  const name = `${pick.one(FIRST_NAMES)} ${pick.one(LAST_NAMES)}`;
  return {
    id: `cus_${pick.id()}`,
    name,
    email: `${pick.id()}@example.com`,
    phone: `+46 70 ${String(pick.between(1_000_000, 9_999_999))}`,
    locale: pick.one(['en-GB', 'ja-JP', 'pl-PL', 'pt-PT', 'sv-SE', 'tr-TR']),
    created_at: pick.time(),
    default_address: address(pick),
    tags: pick.some(0, 3, () => pick.one(['wholesale', 'newsletter', 'vip', 'import-2026'])),
    accepts_marketing: pick.one([true, false]),
    metadata: { source: 'bulk-import', row: pick.between(1, 50_000) },
  };
}

function line(pick: Picker): Json {
  const [title, sku, unitPrice] = pick.one(PRODUCTS);
  const quantity = pick.between(1, 6);
  return {
    id: `li_${pick.id()}`,
    title,
    sku,
    quantity,
    unit_price: unitPrice,
    total: quantity * unitPrice,
    tax_lines: [{ title: 'VAT', rate: 0.25, amount: Math.round((quantity * unitPrice) / 5) }],
    properties: { batch: pick.id(), gift_wrap: pick.one([true, false]) },
  };
}

function order(pick: Picker): Json {
  // Most orders are small; a few have dozens of lines.
  const lines = pick.some(1, pick.one([2, 3, 4, 4, 6, 40]), line);
  const total = lines.reduce((sum, { total: amount }) => sum + Number(amount), 0);
  return {
    id: `ord_${pick.id()}`,
    number: pick.between(100_000, 999_999),
    currency: pick.one(['EUR', 'GBP', 'JPY', 'SEK']),
    total,
    status: 'open',
    placed_at: pick.time(),
    customer: customer(pick),
    shipping_address: address(pick),
    billing_address: address(pick),
    line_items: lines,
    note: pick.one([null, null, ...NOTES]),
    discounts: pick.some(0, 2, () => ({ code: pick.id().toUpperCase(), amount: pick.between(100, 2_000) })),
  };
}

function paidOrder(pick: Picker): Json {
  const payment = { id: `pay_${pick.id()}`, brand: pick.one(['visa', 'mastercard', 'swish']), last4: '4242' };
  return { ...order(pick), status: 'paid', paid_at: pick.time(), payment };
}

function fulfilledOrder(pick: Picker): Json {
  const parcels = pick.some(1, 3, () => ({
    carrier: pick.one(CARRIERS),
    tracking_number: pick.id().toUpperCase(),
  }));
  return { ...order(pick), status: 'fulfilled', parcels };
}

function adjustment(pick: Picker): Json {
  const [title, sku] = pick.one(PRODUCTS);
  const available = pick.between(0, 900);
  return {
    sku,
    title,
    location: `loc_${pick.id()}`,
    available,
    change: -pick.between(1, 12),
    reason: 'sale',
  };
}

/** Draws at random, but from a seed, so that both runs and every repetition import the same. */
class Picker {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** An integer, both ends included. */
  between(from: number, to: number): number {
    // A linear congruential generator with the constants of Numerical Recipes: its upper bits are good enough.
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return from + Math.floor((this.#state / 2 ** 32) * (to - from + 1));
  }

  one<T>(choices: readonly T[]): T {
    return choices[this.between(0, choices.length - 1)] as T;
  }

  some<T>(from: number, to: number, make: (pick: Picker) => T): T[] {
    return Array.from({ length: this.between(from, to) }, () => make(this));
  }

  id(): string {
    return this.between(0, 2 ** 32 - 1)
      .toString(36)
      .padStart(7, '0');
  }

  time(): string {
    return new Date(Date.UTC(2026, 2, 1) + this.between(0, 30 * 86_400_000)).toISOString();
  }
}
