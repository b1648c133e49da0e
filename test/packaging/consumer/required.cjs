exports.core = require('@webhook-backpressure/core');
exports.express = require('@webhook-backpressure/express');
