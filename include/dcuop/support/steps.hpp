#pragma once
// Points of the program's durable work at which a test can have it killed: a cache must survive that at each.

namespace dcuop {

/// With DCUOP_KILL_AT=N in the environment the N-th call ends the process by SIGKILL; else it does nothing.
/// Thread-safe.
void reach_step() noexcept;

} // namespace dcuop
