#include <hip/hip_runtime.h>
void wait(hipStream_t stream) {
  //! next DCU993
  hipStreamSynchronize(stream); // dcuop: alow(DCU914) the count is known on the device alone
  //! next DCU993
  hipStreamSynchronize(stream); // dcuop: allow DCU914 the count is known on the device alone
  //! next DCU993
  hipStreamSynchronize(stream); // dcuop: allow(DCU914 the count is known on the device alone
  //! next DCU993
  hipStreamSynchronize(stream); // dcuop: allow(DCU1914) the count is known on the device alone
  //! next DCU993
  hipStreamSynchronize(stream); // dcuop: allow() the count is known on the device alone
  //! next DCU993
  hipStreamSynchronize(stream); // dcuop: allow(host-synchronisatoin) the count is known on the device alone
}
